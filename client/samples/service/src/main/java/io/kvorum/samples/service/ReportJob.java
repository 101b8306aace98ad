package io.kvorum.samples.service;

import io.kvorum.client.BlockingEntities;
import io.kvorum.client.JsonCodec;
import io.kvorum.client.KvorumClient;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** Runs in one instance of the service at a time. The starter makes the lock provider. */
@Component
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "1m")
class ReportJob {

	static final String KEY = "report";

	private final Orders orders;

	private final BlockingEntities<Long> reports;

	ReportJob(Orders orders, KvorumClient client, JsonMapper mapper) {
		this.orders = orders;
		this.reports = client.entities(JsonCodec.of(mapper, Long.class)).blocking();
	}

	/** A thread of the scheduler may block. If it fails, the next run does it. */
	@Scheduled(fixedDelayString = "${orders.report-interval}")
	@SchedulerLock(name = "report")
	public void report() {
		this.reports.put(KEY, this.orders.amountOfAll().blockOptional().orElseThrow());
	}

}
