package io.github.distributedlock.backend.redis.connection;

import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LettuceCommand}.
 */
class LettuceCommandTests {

	private final AtomicInteger told = new AtomicInteger();

	private final LettuceCommand command = new LettuceCommand(CommandType.GET, LettuceCommand.arguments());

	@Test
	void itsEndIsToldOnce() {
		this.command.whenDone(this.told::incrementAndGet);
		assertThat(this.told).hasValue(0);
		this.command.complete();
		this.command.cancel();
		this.command.completeExceptionally(new RedisException("thrown by the test"));
		assertThat(this.told).hasValue(1);
	}

	@Test
	void anEndThatHasComeBeforeIsToldAtOnce() {
		this.command.cancel();
		this.command.whenDone(this.told::incrementAndGet);
		assertThat(this.told).hasValue(1);
	}

	@Test
	void itIsClaimedOnce() {
		assertThat(this.command.claim()).isTrue();
		assertThat(this.command.claim()).isFalse();
	}

}
