package io.github.distributedlock.test;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A request or a reply of the Redis protocol, RESP2 or RESP3.
 *
 * @param type its first character
 * @param words the strings in it, in order; of a request, the command and its arguments
 * @param bytes the whole of it, as it passed
 */
public record RespMessage(char type, List<String> words, byte[] bytes) {

	/**
	 * Reads one message.
	 * @param input what it comes from
	 * @return the message
	 * @throws EOFException if there is none any more
	 */
	public static RespMessage read(InputStream input) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		List<String> words = new ArrayList<>();
		char type = read(input, bytes, words);
		return new RespMessage(type, words, bytes.toByteArray());
	}

	/**
	 * Whether the server sent it unasked.
	 */
	public boolean isPush() {
		return this.type == '>';
	}

	private static char read(InputStream input, ByteArrayOutputStream bytes, List<String> words) throws IOException {
		String line = line(input, bytes);
		char type = line.charAt(0);
		switch (type) {
			case '$', '=', '!' -> word(input, Integer.parseInt(line.substring(1)), bytes, words);
			case '*', '~', '>' -> read(Integer.parseInt(line.substring(1)), input, bytes, words);
			case '%' -> read(2 * Integer.parseInt(line.substring(1)), input, bytes, words);
			// What it says about the message comes before that.
			case '|' -> read(2 * Integer.parseInt(line.substring(1)) + 1, input, bytes, words);
			default -> {
			}
		}
		return type;
	}

	private static void read(int count, InputStream input, ByteArrayOutputStream bytes, List<String> words)
			throws IOException {
		for (int i = 0; i < count; i++) {
			read(input, bytes, words);
		}
	}

	private static String line(InputStream input, ByteArrayOutputStream bytes) throws IOException {
		StringBuilder line = new StringBuilder();
		for (int next = input.read(); next >= 0; next = input.read()) {
			bytes.write(next);
			if (next == '\n') {
				return line.toString();
			}
			if (next != '\r') {
				line.append((char) next);
			}
		}
		throw new EOFException();
	}

	private static void word(InputStream input, int length, ByteArrayOutputStream bytes, List<String> words)
			throws IOException {
		if (length >= 0) {
			byte[] word = input.readNBytes(length + 2);
			if (word.length < length + 2) {
				throw new EOFException();
			}
			bytes.write(word);
			words.add(new String(word, 0, length, StandardCharsets.UTF_8));
		}
	}

}
