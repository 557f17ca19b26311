package io.github.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Tests for {@link LockException#printable} and {@link LockException#causes}.
 */
class LockExceptionTests {

	@Test
	void whatHasNoControlCharactersStaysTheSame() {
		for (String key : List.of("stock:A1", "", "käse €", "a\\nb", "\uD83D\uDE00")) {
			assertThat(LockException.printable(key)).isSameAs(key);
		}
	}

	@Test
	void controlCharactersAndLineSeparatorsAreEscaped() {
		assertThat(LockException.printable("a\r\nERROR \u001b[31mb\tc\u0000\u007f\u009b\u2028\u2029\uD83D\uDE00"))
			.isEqualTo("a\\r\\nERROR \\u001b[31mb\\tc\\u0000\\u007f\\u009b\\u2028\\u2029\uD83D\uDE00");
	}

	@Test
	void severalStandInBrackets() {
		assertThat(LockException.printable(List.of("a\n", "b"))).isEqualTo("[a\\n, b]");
	}

	@Test
	void ofManyTheFirstAreNamed() {
		List<String> keys = IntStream.range(0, 10_000).mapToObj(String::valueOf).toList();
		assertThat(LockException.printable(keys)).isEqualTo("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 9990 more]");
		assertThat(LockException.printable(keys.subList(0, 10))).isEqualTo("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]");
	}

	@Test
	void causesEndWhereTheyBeginAnew() {
		Exception inner = new IllegalStateException("inner");
		Exception middle = new IllegalStateException("middle", inner);
		Exception outer = new IllegalStateException("outer", middle);
		assertThat(LockException.causes(outer)).containsExactly(outer, middle, inner);
		inner.initCause(middle);
		assertThat(assertTimeoutPreemptively(Patience.PATIENCE, () -> LockException.causes(outer)))
			.containsExactly(outer, middle, inner);
	}

	@Test
	void eventsAndExceptionsSayWhatTheyAreAbout() {
		List<String> keys = List.of("a", "b");
		assertThat(new LockInterruptedException("interrupted", keys, null).keys()).isEqualTo(keys);
		assertThat(new LockUpgradeException("shared", "do not", keys).keys()).isEqualTo(keys);
		assertThat(LockBackendException.of("down").build().keys()).isEmpty();
		LockRequest request = LockRequest.of(keys).name("n");
		assertThat(Stream.<LockEvent>of(new LockEvent.Released(request, "a", "us", Duration.ZERO),
				new LockEvent.RenewedLate(request, "a", "us", Duration.ZERO),
				new LockEvent.Lost(request, "a", "us", LockEvent.Lost.Reason.TAKEN, Duration.ZERO),
				new LockEvent.ReleaseDeferred(request, "a", "us", LockBackendException.of("down").build())))
			.allMatch((event) -> event.keys().equals(List.of("a")) && event.name().equals("n"));
	}

	@Test
	void requestsAreWrittenOnOneLineAndKeepTheKey() {
		LockRequest request = LockRequest.of("a\nb");
		assertThat(request).hasToString(LockException.printable(request.toString()));
		assertThat(request.keys()).containsExactly("a\nb");
	}

}
