package io.kvorum.samples.plain;

import java.io.PrintStream;

import io.kvorum.client.BlockingEntities;
import io.kvorum.client.Codec;
import io.kvorum.client.Entity;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.Range;

/**
 * Counts a visit, and prints all counts: {@code java … Visits <page> <url of a node>…}.
 */
public final class Visits {

	private Visits() {
	}

	/** Counts a visit of a page, and prints what has been counted. */
	static void count(String page, BlockingEntities<String> texts, PrintStream out) {
		Entity<String> counted = texts
			.update("visits/" + page, count -> (count != null) ? String.valueOf(Integer.parseInt(count) + 1) : "1")
			.orElseThrow();
		out.printf("%s was visited %s times%n", page, counted.value());
		try (var all = texts.range(Range.prefix("visits/"))) {
			all.forEach(entity -> out.printf("%s %s%n", entity.key(), entity.value()));
		}
	}

	public static void main(String[] args) {
		String[] urls = new String[args.length - 1];
		System.arraycopy(args, 1, urls, 0, urls.length);
		try (KvorumClient client = KvorumClient.builder(urls).build()) {
			count(args[0], client.entities(Codec.text()).blocking(), System.out);
		}
		catch (KvorumException ex) {
			System.err.printf("%s: %s%n", ex.outcome(), ex.getMessage());
			System.exit(1);
		}
	}

}
