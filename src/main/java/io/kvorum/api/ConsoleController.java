package io.kvorum.api;

import java.net.URI;
import java.util.List;
import java.util.Map;

import org.springframework.context.annotation.Conditional;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Serves {@code /console}: a page for people, which uses the API as any other client. Its
 * files hold nothing that is not public, so they need no API key.
 */
@RestController
@Conditional(ConsoleCondition.class)
final class ConsoleController {

	static final String PATH = "/console";

	private static final String DIRECTORY = PATH + "/";

	private static final String SCRIPT = DIRECTORY + "console.js";

	private static final String FORMATS = DIRECTORY + "formats.js";

	private static final String STYLE = DIRECTORY + "console.css";

	/** All paths that this serves. */
	static final List<String> PATHS = List.of(PATH, DIRECTORY, SCRIPT, FORMATS, STYLE);

	private static final String JAVASCRIPT = "text/javascript;charset=utf-8";

	/** Nothing from elsewhere, nothing inline, and not inside of another page. */
	private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
			+ "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

	private static final Map<String, String> HEADERS = Map.of("Content-Security-Policy", POLICY,
			"X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer");

	private final StaticFile page = StaticFile.of("console/index.html", "text/html;charset=utf-8");

	private final StaticFile script = StaticFile.of("console/console.js", JAVASCRIPT);

	private final StaticFile formats = StaticFile.of("console/formats.js", JAVASCRIPT);

	private final StaticFile style = StaticFile.of("console/console.css", "text/css;charset=utf-8");

	@GetMapping(PATH)
	ResponseEntity<byte[]> page() {
		return this.page.answer(HEADERS);
	}

	/** The links in the page are relative to its path without a slash. */
	@GetMapping(DIRECTORY)
	ResponseEntity<Void> directory() {
		return ResponseEntity.status(HttpStatus.FOUND).location(URI.create("../console")).build();
	}

	@GetMapping(SCRIPT)
	ResponseEntity<byte[]> script() {
		return this.script.answer(HEADERS);
	}

	@GetMapping(FORMATS)
	ResponseEntity<byte[]> formats() {
		return this.formats.answer(HEADERS);
	}

	@GetMapping(STYLE)
	ResponseEntity<byte[]> style() {
		return this.style.answer(HEADERS);
	}

}
