package io.github.distributedlock.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.RedisLockBackend;

/**
 * The steps in which locks ask Redis for something, and how to tell their requests from
 * others.
 */
enum Step {

	/** The first attempt to acquire: a command or, of a fenced lock, a script. */
	ACQUIRE("lib-clock.lua", "lib-grant.lua", "lib-lock.lua", "lib-waiters.lua", "lib-acquire.lua", "acquire.lua") {

		@Override
		boolean isIn(List<String> request) {
			return (request.get(0).equalsIgnoreCase("set") && !request.contains(IFEQ))
					|| (super.isIn(request) && argument(7, request).equals(DO_NOT_REGISTER));
		}

	},

	/** An attempt to acquire, or else to wait. */
	REGISTER("lib-clock.lua", "lib-grant.lua", "lib-lock.lua", "lib-waiters.lua", "lib-acquire.lua", "acquire.lua") {

		@Override
		boolean isIn(List<String> request) {
			return super.isIn(request) && !argument(7, request).equals(DO_NOT_REGISTER);
		}

	},

	/** The renewal of leases. */
	RENEW("lib-clock.lua", "lib-lock.lua", "renew.lua") {

		@Override
		boolean isIn(List<String> request) {
			return super.isIn(request) || (request.contains(IFEQ)
					&& request.indexOf(request.get(2)) != request.lastIndexOf(request.get(2)));
		}

	},

	/** A release. */
	RELEASE("release-fast.lua", "lib-clock.lua", "lib-grant.lua", "release-grant.lua", "lib-lock.lua",
			"lib-waiters.lua", "release.lua") {

		@Override
		boolean isIn(List<String> request) {
			return super.isIn(request) || (request.contains(IFEQ) && request.get(0).equalsIgnoreCase("delex"));
		}

	};

	/** By scripts, or else by the commands of a Redis that compares by itself. */
	private static final String IFEQ = "IFEQ";

	private static final String DO_NOT_REGISTER = "0";

	private final String script;

	private final String digest;

	Step(String... resources) {
		this.script = Stream.of(resources).map(Step::read).collect(Collectors.joining("\n"));
		this.digest = digest(this.script);
	}

	/**
	 * Returns whether a request is this step.
	 */
	boolean isIn(List<String> request) {
		return switch (request.get(0).toLowerCase(Locale.ROOT)) {
			case "evalsha" -> request.get(1).equals(this.digest);
			case "eval" -> request.get(1).equals(this.script);
			default -> false;
		};
	}

	private static String argument(int number, List<String> request) {
		int keys = Integer.parseInt(request.get(2));
		return request.get(3 + keys + number);
	}

	private static String read(String resource) {
		try (InputStream script = RedisLockBackend.class.getResourceAsStream(resource)) {
			Objects.requireNonNull(script, () -> "The backend has no script " + resource);
			return new String(script.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String digest(String script) {
		try {
			byte[] bytes = script.getBytes(StandardCharsets.UTF_8);
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
