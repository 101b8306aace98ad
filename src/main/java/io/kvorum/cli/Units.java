package io.kvorum.cli;

import java.util.Locale;

/** Figures for people. */
final class Units {

	private static final String[] SIZES = { "B", "KB", "MB", "GB", "TB", "PB" };

	private Units() {
	}

	/** A size in bytes, in the largest unit of which it has one: 1 KB is 1024 B. */
	static String size(long bytes) {
		double size = bytes;
		int unit = 0;
		while (size >= 1024 && unit < SIZES.length - 1) {
			size /= 1024;
			unit++;
		}
		return String.format(Locale.ROOT, (unit == 0) ? "%.0f %s" : "%.1f %s", size, SIZES[unit]);
	}

	/** A time span, in the largest unit of which it has two. */
	static String age(long seconds) {
		return (seconds < 120) ? seconds + " s" : (seconds < 7200) ? seconds / 60 + " min"
				: (seconds < 172_800) ? seconds / 3600 + " h" : seconds / 86_400 + " d";
	}

}
