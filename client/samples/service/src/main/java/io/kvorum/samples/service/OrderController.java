package io.kvorum.samples.service;

import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.ConditionNotMet;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/** Names have no {@code /}, which separates them in the keys. */
@RestController
@RequestMapping("/articles/{article:[a-z0-9-]+}")
class OrderController {

	private final Orders orders;

	OrderController(Orders orders) {
		this.orders = orders;
	}

	@PutMapping("/orders/{id:[a-z0-9-]+}")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Void> create(@PathVariable String article, @PathVariable String id, @RequestBody Order order) {
		return this.orders.create(article, id, order);
	}

	@GetMapping("/orders/{id:[a-z0-9-]+}")
	Mono<Order> find(@PathVariable String article, @PathVariable String id) {
		return this.orders.find(article, id)
			.switchIfEmpty(Mono.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND)));
	}

	@PostMapping("/views")
	Mono<Long> view(@PathVariable String article) {
		return this.orders.view(article);
	}

	@GetMapping("/amount")
	Mono<Long> amount(@PathVariable String article) {
		return this.orders.amountOf(article);
	}

	@ExceptionHandler
	ProblemDetail exists(ConditionNotMet ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "There is an order with this id already");
	}

	/** The outcome tells the caller whether the write may have happened. */
	@ExceptionHandler
	ProblemDetail failed(KvorumException ex) {
		ProblemDetail problem = ProblemDetail
			.forStatus(ex.isRetryable() ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.INTERNAL_SERVER_ERROR);
		problem.setProperty("outcome", ex.outcome());
		return problem;
	}

}
