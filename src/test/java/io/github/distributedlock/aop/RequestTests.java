package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which request the attributes make, and which values are refused at start-up.
 */
@ExtendWith(OutputCaptureExtension.class)
class RequestTests {

	private static final Map<String, Throwable> REFUSALS = new AdvisorContext().property("hold", "30")
		.property("calls.many", "1001")
		.property("calls.word", "ten")
		.property("lock.wait", "soon")
		.refusals(Mistakes.class);

	@Test
	void whatIsNotSetIsLeftToTheLock() {
		try (AdvisorContext context = AdvisorContext.of(Service.class)) {
			context.get(Service.class).nothingSet("a");
			LockRequest request = context.lock().request();
			assertThat(request.waitTime()).isNull();
			assertThat(request.leaseTime()).isNull();
			assertThat(request.maxHoldTime()).isNull();
			assertThat(request.minHoldTime()).isNull();
			assertThat(request.releaseOn()).isEqualTo(ReleaseOn.CLOSE);
			assertThat(request.name()).isEqualTo("Service.nothingSet");
		}
	}

	@Test
	void durationsInEachNotation() {
		try (AdvisorContext context = new AdvisorContext().property("lock.lease", " 1m30s ").start(Service.class)) {
			context.get(Service.class).allSet("a");
			LockRequest request = context.lock().request();
			assertThat(request.keys()).containsExactly("a");
			assertThat(request.waitTime()).isEqualTo(Duration.ofMillis(500));
			assertThat(request.leaseTime()).isEqualTo(Duration.ofSeconds(90));
			assertThat(request.maxHoldTime()).isEqualTo(Duration.ofMinutes(2));
			assertThat(request.minHoldTime()).isEqualTo(Duration.ofSeconds(2));
			assertThat(request.releaseOn()).isEqualTo(ReleaseOn.EXPIRY);
			assertThat(request.fenced()).isTrue();
			assertThat(request.name()).isEqualTo("checkout- 1m30s");
		}
	}

	@Test
	void permitsAsANumberAndByAPlaceholder() {
		try (AdvisorContext context = new AdvisorContext().property("partner.calls", " 10 ").start(Partner.class)) {
			Partner partner = context.get(Partner.class);
			partner.exclusive();
			assertThat(context.lock().request().permits()).isEqualTo(1);
			partner.three();
			assertThat(context.lock().request().permits()).isEqualTo(3);
			partner.configured();
			assertThat(context.lock().request().permits()).isEqualTo(10);
		}
	}

	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					waitsFive         | waitTime = "5" is 5 ms, since a number without a unit is milliseconds | (write 5s if seconds are meant, or 5ms)
					holdsThirty       | minHoldTime = "${hold}" (30) is 30 ms | (write 30s if seconds are meant, or 30ms)
					noPermits         | permits = 0 cannot be: permits 0 is out of range: at least 1, at most 1000 | (write a number from 1 to 1000)
					manyPermits       | permitsString = "${calls.many}" (1001) cannot be: permits 1001 is out of range | 1000
					permitsInWords    | permitsString = "${calls.word}" (ten) cannot be: it is not a number | 1000
					noDuration        | waitTime = "soon" is not a duration | (write "2s", "PT2S" or
					noDurationThere   | waitTime = "${lock.wait}" (soon) is not a duration | (write "2s", "PT2S" or
					negativeWait      | waitTime = "-1s" cannot be: waitTime -1 s is out of range | at most 365 days, which is as good as for ever
					zeroLease         | leaseTime = "0" cannot be | at least 100 ms
					zeroMinimum       | minHoldTime = "0s" cannot be | out of range
					longMaximum       | maxHoldTime = "366d" cannot be | at most 365 days
					overflow          | leaseTime = "9999999999999999d" is not a duration | (
					endlessLease      | leaseTime = "-1" cannot be: leaseTime -1 ms is out of range | (leave it empty: the lease is then renewed until the method ends)
					noUnit            | leaseTime = "30" cannot be: leaseTime 30 ms is out of range: at least 100 ms | write 30s if seconds are meant
					longerThanLease   | minHoldTime = "10s" cannot be | is longer than its leaseTime 5 s
					longerThanMaximum | minHoldTime = "10s" cannot be | is longer than its maxHoldTime 5 s
					""")
	void valueThatCannotBe(String method, String problem, String remedy) {
		assertThat(REFUSALS.get(method)).hasMessageContainingAll("$Mistakes." + method + "(): " + problem, remedy);
	}

	@Test
	void eachOfThemIsRefused() {
		assertThat(REFUSALS).containsOnlyKeys(
				Stream.of(Mistakes.class.getDeclaredMethods()).map(Method::getName).toArray(String[]::new));
	}

	@Test
	void shortTimesWithAUnitAreTakenAtTheirWord() {
		try (AdvisorContext context = new AdvisorContext().property("hold", "30ms").start(HoldsByProperty.class)) {
			context.get(HoldsByProperty.class).run();
			assertThat(context.lock().request().minHoldTime()).isEqualTo(Duration.ofMillis(30));
		}
	}

	@Test
	void zeroWaitIsOneAttemptAndAnEmptyPlaceholderIsNotSet() {
		try (AdvisorContext context = AdvisorContext.of(Service.class)) {
			context.get(Service.class).noWait();
			assertThat(context.lock().request().waitTime()).isZero();
			assertThat(context.lock().request().leaseTime()).isNull();
		}
	}

	@Test
	void scheduledMethodThatDoesNotSkipIsWarnedOf(CapturedOutput output) {
		AdvisorContext.of(Jobs.class).close();
		String warned = "Jobs.everywhere(): the method is scheduled in each JVM. Where its lock is busy, the method waits";
		assertThat(output.getOut().split(Pattern.quote(warned), -1)).hasSize(2);
		assertThat(output).contains("write @DistributedLock(ifBusy = IfBusy.SKIP, minHoldTime = \"30s\")")
			.doesNotContain("Jobs.once(): the method is scheduled")
			.doesNotContain("Jobs.replaced(): the method is scheduled")
			.doesNotContain("Jobs.called(): the method is scheduled");
	}

	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock
		public void everywhere() {
		}

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(ifBusy = IfBusy.SKIP)
		public void once() {
		}

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(fallback = "called")
		public void replaced() {
		}

		@DistributedLock
		public void called() {
		}

	}

	static class Service {

		@DistributedLock(key = "#sku")
		public void nothingSet(String sku) {
		}

		@DistributedLock(key = "#sku", waitTime = "500", leaseTime = "${lock.lease:}", maxHoldTime = "2m",
				minHoldTime = "PT2S", fenced = true, releaseOn = ReleaseOn.EXPIRY, name = "checkout-${lock.lease:}")
		public void allSet(String sku) {
		}

		@DistributedLock(waitTime = "0", leaseTime = "${absent:}")
		public void noWait() {
		}

	}

	static class Partner {

		@DistributedLock
		public void exclusive() {
		}

		@DistributedLock(permits = 3)
		public void three() {
		}

		@DistributedLock(permitsString = "${partner.calls}")
		public void configured() {
		}

	}

	static class Mistakes {

		@DistributedLock(waitTime = "5")
		public void waitsFive() {
		}

		@DistributedLock(minHoldTime = "${hold}")
		public void holdsThirty() {
		}

		@DistributedLock(permits = 0)
		public void noPermits() {
		}

		@DistributedLock(permitsString = "${calls.many}")
		public void manyPermits() {
		}

		@DistributedLock(permitsString = "${calls.word}")
		public void permitsInWords() {
		}

		@DistributedLock(waitTime = "soon")
		public void noDuration() {
		}

		@DistributedLock(waitTime = "${lock.wait}")
		public void noDurationThere() {
		}

		@DistributedLock(waitTime = "-1s")
		public void negativeWait() {
		}

		@DistributedLock(leaseTime = "0")
		public void zeroLease() {
		}

		@DistributedLock(minHoldTime = "0s")
		public void zeroMinimum() {
		}

		@DistributedLock(maxHoldTime = "366d")
		public void longMaximum() {
		}

		@DistributedLock(leaseTime = "9999999999999999d")
		public void overflow() {
		}

		@DistributedLock(leaseTime = "-1")
		public void endlessLease() {
		}

		@DistributedLock(leaseTime = "30")
		public void noUnit() {
		}

		@DistributedLock(minHoldTime = "10s", leaseTime = "5s")
		public void longerThanLease() {
		}

		@DistributedLock(minHoldTime = "10s", maxHoldTime = "5s")
		public void longerThanMaximum() {
		}

	}

	static class HoldsByProperty {

		@DistributedLock(minHoldTime = "${hold}")
		public void run() {
		}

	}

}
