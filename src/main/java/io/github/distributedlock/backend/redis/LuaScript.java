package io.github.distributedlock.backend.redis;

import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.script.DigestUtils;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A script that the server keeps under a digest. The script is sent in full only if the
 * server does not have the script, so a flush of the scripts or a failover does no harm.
 * Functions that several scripts need are in resources of their own, which are put before
 * the script.
 */
final class LuaScript {

	private final byte[] source;

	private final byte[] digest;

	/**
	 * Reads a script.
	 * @param resources the names of the resources without {@code .lua}, separated by
	 * spaces
	 */
	LuaScript(String resources) {
		String source = Stream.of(resources.split(" ")).map(LuaScript::read).collect(Collectors.joining("\n"));
		this.source = KeyNames.bytes(source);
		this.digest = KeyNames.bytes(DigestUtils.sha1DigestAsHex(source));
	}

	/**
	 * Runs the script by digest, and in full if the server does not have the script.
	 * @param <T> the type of the answer: {@code Long} or a list
	 */
	@SuppressWarnings("unchecked")
	<T> T run(Link link, int keys, Object... keysAndArguments) {
		try {
			return (T) answered(link.call(Command.script(Verb.EVALSHA, this.digest, keys, keysAndArguments)));
		}
		catch (DataAccessException ex) {
			// The server refused before the script ran, so the script still runs only
			// once.
			if (!String.valueOf(ex.getMostSpecificCause().getMessage()).contains("NOSCRIPT")) {
				throw ex;
			}
			return (T) runInFull(link, keys, keysAndArguments);
		}
	}

	Object runInFull(Link link, int keys, Object... keysAndArguments) {
		return answered(link.call(Command.script(Verb.EVAL, this.source, keys, keysAndArguments)));
	}

	// Each script answers.
	private static Object answered(@Nullable Object reply) {
		if (reply == null) {
			throw LockBackendException.of("Redis gave no answer").retryable(true).build();
		}
		return reply;
	}

	private static String read(String name) {
		return RedisScript.of(new ClassPathResource(name + ".lua", LuaScript.class)).getScriptAsString();
	}

}
