package io.github.distributedlock.engine.lease;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;

import io.github.distributedlock.engine.runtime.EngineTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LossLog}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LossLogTests {

	@Test
	void whatCannotBeCountedLaterIsNamed(CapturedOutput output) {
		LossLog log = new LossLog(new EndedTime());
		IntStream.range(0, 30).forEach((i) -> log.warn("Lock 'k" + i + "' is gone"));
		assertThat(output.toString().lines().filter((line) -> line.contains("is gone"))).hasSize(30);
	}

	/**
	 * That of an engine that has ended.
	 */
	private static final class EndedTime implements EngineTime {

		@Override
		public long nanoTime() {
			return 0;
		}

		@Override
		public long wallNanos() {
			return 0;
		}

		@Override
		public boolean await(Semaphore signal, long nanos) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Alarm schedule(Runnable task, long delayNanos) {
			throw new RejectedExecutionException();
		}

	}

}
