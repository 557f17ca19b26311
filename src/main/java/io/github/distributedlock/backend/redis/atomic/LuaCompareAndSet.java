package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ReturnType;

/**
 * Compares and sets in a script.
 */
final class LuaCompareAndSet implements CompareAndSet {

	private final LuaScript script = new LuaScript(ReturnType.INTEGER, "compare-and-set.lua");

	@Override
	public boolean replace(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis) {
		Long replaced = (replacement != null)
				? this.script.run(link, 1, name, expected, KeyNames.number(millis), replacement)
				: this.script.run(link, 1, name, expected, KeyNames.number(millis));
		return replaced != null && replaced == 1;
	}

}
