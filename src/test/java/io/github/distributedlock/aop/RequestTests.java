package io.github.distributedlock.aop;

import java.util.Map;
import java.util.regex.Pattern;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockRequest;
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
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The request that the attributes make, and the values that are refused at start-up.
 */
@ExtendWith(OutputCaptureExtension.class)
class RequestTests {

	private static final Map<String, Object> PROPERTIES = Map.of("hold", "30", "calls.few", " 10 ", "calls.many",
			"1001", "calls.word", "ten", "lock.wait", "soon", "lock.lease", " 1m30s ");

	@ParameterizedTest(name = "{index}: {0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					``                                      | name=RequestTests.run, mode=EXCLUSIVE, awaitedOnStop
					mode=SHARED                             | name=RequestTests.run, mode=SHARED, awaitedOnStop
					name=checkout-${lock.lease}             | name=checkout- 1m30s, mode=EXCLUSIVE, awaitedOnStop
					waitTime=500                            | name=RequestTests.run, mode=EXCLUSIVE, waitTime=500 ms, awaitedOnStop
					waitTime=0, leaseTime=${absent:}        | name=RequestTests.run, mode=EXCLUSIVE, waitTime=0 ms, awaitedOnStop
					leaseTime=${lock.lease}                 | name=RequestTests.run, mode=EXCLUSIVE, leaseTime=90 s, awaitedOnStop
					maxHoldTime=2m, minHoldTime=PT2S        | name=RequestTests.run, mode=EXCLUSIVE, maxHoldTime=120 s, minHoldTime=2 s, awaitedOnStop
					minHoldTime=30ms, releaseOn=EXPIRY      | name=RequestTests.run, mode=EXCLUSIVE, minHoldTime=30 ms, releaseOn=EXPIRY, awaitedOnStop
					fair=true, fenced=true                  | name=RequestTests.run, mode=EXCLUSIVE, fair, fenced, awaitedOnStop
					keepTime=100ms                          | name=RequestTests.run, mode=EXCLUSIVE, keepTime=100 ms, awaitedOnStop
					permits=3                               | name=RequestTests.run, mode=EXCLUSIVE, permits=3, awaitedOnStop
					permitsString=${calls.few}              | name=RequestTests.run, mode=EXCLUSIVE, permits=10, awaitedOnStop
					""")
	void attributesThatMakeARequest(String attributes, String request) {
		assertThat(define(attributes).template().prototype())
			.hasToString("LockRequest[keys=[" + RequestTests.class.getName() + ".run], " + request + "]");
	}

	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					waitTime=5                        | waitTime = "5" is 5 ms, since a number without a unit is milliseconds | (write 5s if seconds are meant, or 5ms)
					minHoldTime=${hold}               | minHoldTime = "${hold}" (30) is 30 ms | (write 30s if seconds are meant, or 30ms)
					keepTime=5                        | keepTime = "5" is 5 ms, since a number without a unit is milliseconds | (write 5s if seconds are meant, or 5ms)
					permits=0                         | permits = 0 cannot be: permits 0 is out of range: at least 1, at most 1000 | (write a number from 1 to 1000)
					permitsString=${calls.many}       | permitsString = "${calls.many}" (1001) cannot be: permits 1001 is out of range | 1000
					permitsString=${calls.word}       | permitsString = "${calls.word}" (ten) cannot be: it is not a number | (write a number from 1 to 1000, or a property that is one, "${…}": the number is the same for all calls)
					permitsString=#{#limit}           | permitsString = "#{#limit}" cannot be: it is not a number | or a property that is one
					permits=2, permitsString=3        | permits = 2 is there beside permitsString = "3" | (write one of them)
					name=pay-#{#id}                   | name = "pay-#{#id}" has an expression, but a name is one of few | (leave the expression out)
					waitTime=soon                     | waitTime = "soon" is not a duration | (write "2s", "PT2S" or
					waitTime=${lock.wait}             | waitTime = "${lock.wait}" (soon) is not a duration | (write "2s", "PT2S" or
					waitTime=-1s                      | waitTime = "-1s" cannot be: waitTime -1 s is out of range | at most 365 days, which is as good as for ever
					leaseTime=0                       | leaseTime = "0" cannot be | at least 100 ms
					minHoldTime=0s                    | minHoldTime = "0s" cannot be | out of range
					maxHoldTime=366d                  | maxHoldTime = "366d" cannot be | at most 365 days
					leaseTime=9999999999999999d       | leaseTime = "9999999999999999d" is not a duration | (
					leaseTime=-1                      | leaseTime = "-1" cannot be: leaseTime -1 ms is out of range | (leave it empty: the lease is then renewed until the method ends)
					leaseTime=30                      | leaseTime = "30" cannot be: leaseTime 30 ms is out of range: at least 100 ms | write 30s if seconds are meant
					minHoldTime=10s, leaseTime=5s     | minHoldTime = "10s" cannot be | is longer than its leaseTime 5 s
					minHoldTime=10s, maxHoldTime=5s   | minHoldTime = "10s" cannot be | is longer than its maxHoldTime 5 s
					mode=SHARED, fair=true            | not possible: Lock [ | run] was requested as SHARED and fair, but shared requests queue
					mode=SHARED, fenced=true          | not possible: Lock [ | run] was requested as SHARED and fenced, but a fencing token orders
					mode=SHARED, permits=2            | not possible: Lock [ | run] was requested as SHARED with permits, but any number may share
					fair=true, permits=2              | not possible: Lock [ | run] was requested as fair with permits, but requests with permits
					fenced=true, permits=2            | not possible: Lock [ | run] was requested as fenced with permits, but a fencing token tells
					fenced=true, key='a','b'          | not possible: Lock [ | was requested as fenced, but a fencing token is of one key. Request one key as fenced
					""")
	void attributesThatCannotBe(String attributes, String problem, String remedy) {
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> define(attributes))
			.withMessageContainingAll("@DistributedLock on " + RequestTests.class.getName() + ".run(): " + problem,
					remedy);
	}

	private static LockDefinition define(String attributes) {
		return Definitions.of(RequestTests.class, "run", attributes, PROPERTIES);
	}

	void run() {
	}

	@Test
	void scheduledMethodThatDoesNotSkipIsWarnedOf(CapturedOutput output) {
		AdvisorContext.of(Jobs.class).close();
		String warned = "Jobs.everywhere(): the method is scheduled in each JVM. Where its lock is busy, the method waits";
		assertThat(output.getOut().split(Pattern.quote(warned), -1)).hasSize(2);
		assertThat(output).contains("write @DistributedLock(ifBusy = IfBusy.SKIP, minHoldTime = \"30s\")")
			.doesNotContain("Jobs.once(): the method is scheduled", "Jobs.replaced(): the method is scheduled",
					"Jobs.called(): the method is scheduled");
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
		@DistributedLock(fallback = "instead")
		public void replaced() {
		}

		private void instead() {
		}

		@DistributedLock
		public void called() {
		}

	}

}
