package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many keys that are lost at once: each is told to its listeners, few are named in the
 * log.
 */
@ExtendWith(OutputCaptureExtension.class)
class ManyLossesTests extends EngineFixture {

	private static final int MANY = 300;

	@Test
	void theFirstAreNamedAndTheOthersCounted(CapturedOutput output) {
		acquireAndLose("a");
		assertThat(lines(output, "was lost after")).hasSize(10);
		assertThat(lines(output, "more locks were lost")).isEmpty();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(lines(output, "more locks were lost")).singleElement().asString().contains(MANY - 10 + " more");
		assertThat(losses()).isEqualTo(MANY);
	}

	@Test
	void thoseOfAnotherTimeAreNamedAgain(CapturedOutput output) {
		acquireAndLose("a");
		this.time.advance(Duration.ofSeconds(5));
		acquireAndLose("b");
		assertThat(lines(output, "Lock 'b")).hasSize(10);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(lines(output, MANY - 10 + " more locks were lost")).hasSize(2);
		assertThat(losses()).isEqualTo(2 * MANY);
	}

	@Test
	void whatAnEngineLosesAsItIsClosedIsCountedAtOnce(CapturedOutput output) {
		IntStream.range(0, MANY).forEach((i) -> this.engine.acquire(request("k" + i)));
		this.engine.close();
		assertThat(lines(output, "was lost after")).hasSize(10);
		assertThat(lines(output, MANY - 10 + " more locks were lost")).hasSize(1);
		assertThat(losses()).isEqualTo(MANY);
		this.time.advance(Duration.ofSeconds(5));
		assertThat(lines(output, "more locks were lost")).hasSize(1);
	}

	private void acquireAndLose(String prefix) {
		List<LockHandle> handles = IntStream.range(0, MANY)
			.mapToObj((i) -> this.engine.acquire(LockRequest.of(prefix + i).leaseTime(LEASE)))
			.toList();
		this.time.advance(LEASE);
		assertThat(handles).noneMatch(LockHandle::isHeld);
		handles.forEach(LockHandle::close);
	}

	private long losses() {
		return this.events.stream().filter(LockEvent.Lost.class::isInstance).count();
	}

	private static List<String> lines(CapturedOutput output, String text) {
		return output.toString().lines().filter((line) -> line.contains(text)).toList();
	}

}
