package io.github.distributedlock.backend.redis.atomic;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.ReturnType;

/**
 * A script that the server keeps under its digest. It is sent in full only if the server
 * does not have it, so it survives a flush of the scripts and a failover. Functions that
 * several scripts need are in resources of their own, which are put before it.
 */
final class LuaScript {

	private final byte[] source;

	private final byte[] digest;

	private final ReturnType answer;

	LuaScript(ReturnType answer, String... resources) {
		this.source = KeyNames.bytes(Stream.of(resources).map(LuaScript::read).collect(Collectors.joining("\n")));
		this.digest = KeyNames.bytes(HexFormat.of().formatHex(sha1(this.source)));
		this.answer = answer;
	}

	/**
	 * Runs it.
	 * @param <T> what it answers: {@code Long} or a list
	 */
	<T> @Nullable T run(Link link, int keys, byte[]... keysAndArguments) {
		try {
			return send(link, Verb.EVALSHA, this.digest, keys, keysAndArguments);
		}
		catch (DataAccessException ex) {
			// Refused before it ran, so this is no second attempt.
			if (!RedisRefusal.saysIn(ex, "NOSCRIPT")) {
				throw ex;
			}
			return runInFull(link, keys, keysAndArguments);
		}
	}

	<T> @Nullable T runInFull(Link link, int keys, byte[]... keysAndArguments) {
		return send(link, Verb.EVAL, this.source, keys, keysAndArguments);
	}

	@SuppressWarnings("unchecked")
	private <T> @Nullable T send(Link link, Verb verb, byte[] script, int keys, byte[]... keysAndArguments) {
		return (T) link.call(Command.script(verb, script, this.answer, keys, keysAndArguments));
	}

	private static String read(String resource) {
		try (InputStream stream = LuaScript.class.getResourceAsStream(resource)) {
			if (stream == null) {
				throw new IllegalStateException("The script " + resource + " is missing from the class path");
			}
			return KeyNames.text(stream.readAllBytes());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static byte[] sha1(byte[] source) {
		try {
			return MessageDigest.getInstance("SHA-1").digest(source);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
