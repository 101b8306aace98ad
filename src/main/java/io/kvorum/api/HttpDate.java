package io.kvorum.api;

import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/**
 * Formats dates for headers (IMF-fixdate, RFC 9110, section 5.6.7). Each GET has one:
 * with Netty's formatter, which uses a calendar, that was 2 % of its CPU.
 */
final class HttpDate {

	private static final int MILLIS_OF_A_SECOND = 1000;

	private static final String DAYS = "MonTueWedThuFriSatSun";

	private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

	/** Letters of the name of a day or of a month. */
	private static final int LETTERS = 3;

	private HttpDate() {
	}

	/**
	 * Formats an instant.
	 * @param millis since the epoch, before the year 10000
	 */
	static String format(long millis) {
		LocalDateTime date = LocalDateTime.ofEpochSecond(Math.floorDiv(millis, MILLIS_OF_A_SECOND), 0, ZoneOffset.UTC);
		byte[] text = "DDD, dd MMM yyyy hh:mm:ss GMT".getBytes(StandardCharsets.ISO_8859_1);
		name(DAYS, date.getDayOfWeek().getValue() - 1, text, 0);
		twoDigits(date.getDayOfMonth(), text, 5);
		name(MONTHS, date.getMonthValue() - 1, text, 8);
		twoDigits(date.getYear() / 100, text, 12);
		twoDigits(date.getYear() % 100, text, 14);
		twoDigits(date.getHour(), text, 17);
		twoDigits(date.getMinute(), text, 20);
		twoDigits(date.getSecond(), text, 23);
		return new String(text, StandardCharsets.ISO_8859_1);
	}

	private static void name(String names, int index, byte[] text, int at) {
		for (int i = 0; i < LETTERS; i++) {
			text[at + i] = (byte) names.charAt(LETTERS * index + i);
		}
	}

	private static void twoDigits(int number, byte[] text, int at) {
		text[at] = (byte) ('0' + number / 10);
		text[at + 1] = (byte) ('0' + number % 10);
	}

}
