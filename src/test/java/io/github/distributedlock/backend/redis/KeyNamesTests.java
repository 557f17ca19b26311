package io.github.distributedlock.backend.redis;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.util.JedisClusterCRC16;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link KeyNames}. The random ones have fixed seeds, so a failure repeats.
 */
class KeyNamesTests {

	private static final String[] NASTY = { "{", "}", "{}", "%", "%7B", "%25", ":", "::", ":{", "a", "b", "}:{", "lock",
			"-waiters", "-alive", "-fence", "lock-waiters:{", "\u00e9", "\ud83d\ude00", "\ud83d", "\ude00", "?",
			"%ud83d", " ", "\n", "\0", "*" };

	private final KeyNames names = new KeyNames("lock");

	@Test
	void namesAreThoseOfTheManual() {
		assertThat(text(this.names.lock("stock:1"))).isEqualTo("lock:{stock:1}");
		assertThat(text(this.names.waiters("stock:1"))).isEqualTo("lock-waiters:{stock:1}");
		assertThat(this.names.channels() + "app@host/1#ab").isEqualTo("lock-wake:app@host/1#ab");
	}

	@Test
	void aKeyWithATagOfItsOwnKeepsIt() {
		assertThat(text(this.names.lock("{user1}:cart"))).isEqualTo("lock::{user1}:cart");
		assertThat(text(this.names.waiters("{user1}:cart"))).isEqualTo("lock-waiters::{user1}:cart");
		assertThat(JedisClusterCRC16.getSlot(this.names.lock("{user1}:cart")))
			.isEqualTo(JedisClusterCRC16.getSlot("user1"));
	}

	@Test
	void bracesWithoutATagAreEscaped() {
		assertThat(text(this.names.lock("a{}b"))).isEqualTo("lock:{a%7B%7Db}");
		assertThat(text(this.names.lock("}100%{"))).isEqualTo("lock:{%7D100%25%7B}");
	}

	@Test
	void aKeyIsNotTheSameKeyInBraces() {
		assertThat(this.names.lock("a")).isNotEqualTo(this.names.lock("{a}"));
		assertThat(text(this.names.lock("a:{b}"))).isEqualTo("lock::a:{b}");
	}

	@Test
	void noKeyHasTheNameOfACompanion() {
		assertThat(this.names.lock("-waiters:{a}")).isNotEqualTo(this.names.waiters("a"));
		assertThat(text(this.names.lock("a-waiters"))).isEqualTo("lock:{a-waiters}");
	}

	@Test
	void anEmptyKeyIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.lock("")).withMessageContaining("empty");
	}

	@Test
	void namesOfRandomKeysAreInjective() {
		Random random = new Random(20261120);
		Map<String, String> owners = new HashMap<>();
		for (int i = 0; i < 40_000; i++) {
			String key = nasty(random);
			for (byte[] name : new byte[][] { this.names.lock(key), this.names.waiters(key) }) {
				// The name as the server sees it: bytes, with the role of a lock or of a
				// companion.
				String stored = new String(name, StandardCharsets.ISO_8859_1);
				String owner = ((name.length == this.names.lock(key).length) ? "lock " : "waiters ") + key;
				String other = owners.putIfAbsent(stored, owner);
				assertThat((other != null) ? other : owner).as("who is named %s", stored).isEqualTo(owner);
			}
		}
	}

	@Test
	void companionsOfRandomKeysShareTheSlot() {
		Random random = new Random(42);
		for (int i = 0; i < 20_000; i++) {
			String key = nasty(random);
			assertThat(JedisClusterCRC16.getSlot(this.names.liveness(key))).as("slot of the liveness for '%s'", key)
				.isEqualTo(JedisClusterCRC16.getSlot(this.names.lock(key)));
			assertThat(JedisClusterCRC16.getSlot(this.names.waiters(key))).as("slot of the waiters of '%s'", key)
				.isEqualTo(JedisClusterCRC16.getSlot(this.names.lock(key)));
		}
	}

	@Test
	void keysSpreadOverTheSlots() {
		assertThat(IntStream.range(0, 1000)
			.map((i) -> JedisClusterCRC16.getSlot(this.names.lock("order:" + i)))
			.distinct()
			.count()).isGreaterThan(900);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "  ", "lo{ck", "lo}ck", "{lock}", "x-waiters", "x-alive", "x-fence", "x-wake",
			"x-waiters:", "x-fence:y", "lock:", "a::b", ":" })
	void aPrefixThatBreaksTheNamesIsRefused(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> new KeyNames(prefix))
			.withMessageContaining("key prefix")
			.withMessageContaining("use a");
	}

	private static String nasty(Random random) {
		StringBuilder key = new StringBuilder();
		int parts = 1 + random.nextInt(5);
		for (int i = 0; i < parts; i++) {
			key.append(NASTY[random.nextInt(NASTY.length)]);
		}
		return key.toString();
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
