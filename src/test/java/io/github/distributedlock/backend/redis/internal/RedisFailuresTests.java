package io.github.distributedlock.backend.redis.internal;

import java.net.ConnectException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Tests for {@link RedisFailures} with what servers really say.
 */
class RedisFailuresTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					LOADING Redis is loading the dataset in memory | true | loading
					BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE. | true | SCRIPT KILL
					READONLY You can't write against a read only replica. | true | replica
					MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'. | true | master
					CLUSTERDOWN The cluster is down | true | cluster
					TRYAGAIN Multiple keys request during rehashing of slot | true | slot
					NOREPLICAS Not enough good replicas to write. | true | min-replicas-to-write
					MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. | true | disk
					OOM command not allowed when used memory > 'maxmemory'. | true | maxmemory
					EXECABORT Transaction discarded because of previous errors. | true | memory limit
					ERR Error running script (call to f_1): @user_script:7: -READONLY You can't write against a read only replica. | true | replica
					ERR max number of clients reached | true | reached
					WRONGTYPE Operation against a key holding the wrong kind of value | false | key prefix
					ERR Error running script (call to f_1): @user_script:4: WRONGTYPE Operation against a key | false | key prefix
					NOPERM this user has no permissions to run the 'set' command | false | ACL SETUSER
					ERR Error running script: @user_script: 5: The user executing the script can't run this command | false | ACL SETUSER
					NOAUTH Authentication required. | false | password
					WRONGPASS invalid username-password pair or user is disabled. | false | password
					ERR invalid password | false | password
					ERR Client sent AUTH, but no password is set | false | remove spring.data.redis.password
					ERR AUTH <password> called without any password configured for the default user. | false | remove spring.data.redis.password
					ERR DB index is out of range | false | spring.data.redis.database
					ERR invalid DB index | false | spring.data.redis.database
					ERR SELECT is not allowed in cluster mode | false | spring.data.redis.database
					ERR Client names cannot contain spaces, newlines or special characters. | false | spring.data.redis.client-name
					ERR This instance has cluster support disabled | false | spring.data.redis.cluster.nodes
					ERR unknown command `SENTINEL`, with args beginning with: | false | spring.data.redis.sentinel.nodes
					Sentinel localhost:26379 knows no master of the name 'other' | false | spring.data.redis.sentinel.master
					None of the Sentinels [a:1] names the master of 'm': WRONGPASS invalid | false | spring.data.redis.sentinel.password
					ERR Error running script (call to f_1): @user_script:6: @user_script: 6: -OOM command not allowed when used memory > 'maxmemory'. | true | maxmemory
					OOM command not allowed when used memory > 'maxmemory'. script: 1, on @user_script:6. | true | maxmemory
					ERR max number of clients + cluster connections reached | true | reached
					ERR ACL failure in script: User u has no permissions to run the 'set' command | false | ACL SETUSER
					CROSSSLOT Keys in request don't hash to the same slot | false | in one slot
					ERR eval/evalsha command keys must in same slot | false | in one slot
					DENIED Redis is running in protected mode because protected mode is enabled | false | protected mode
					ERR unknown command 'EVALSHA', with args beginning with: | false | see what the server says
					ERR unknown command 'EVALSHA', with args beginning with: 'abc' '2' 'lock:{BUSY}' | false | see what the server says
					ERR unknown command 'EVALSHA', with args beginning with: 'abc' '2' 'lock:{a: BUSY b}' | false | see what the server says
					ERR unknown command 'EVALSHA', with args beginning with: 'abc' '2' 'lock:{max number of clients}' | false | see what the server says
					ERR unknown command 'EVALSHA', with args beginning with: 'abc' '2' 'lock:{ACL failure in script}' | false | see what the server says
					""")
	void whatTheServerSays(String said, boolean retryable, String remedy) {
		LockBackendException jedis = RedisFailures.translate("release", "lock 'k'",
				new InvalidDataAccessApiUsageException(said, new IllegalStateException(said)));
		LockBackendException lettuce = RedisFailures.translate("release", "lock 'k'",
				new RedisSystemException("Error in execution", new IllegalStateException(said)));
		for (LockBackendException failure : new LockBackendException[] { jedis, lettuce }) {
			assertThat(failure).hasMessageStartingWith("Redis could not release lock 'k': " + said)
				.hasMessageContaining(remedy);
			assertThat(failure.isRetryable()).as("retryable").isEqualTo(retryable);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ERR unknown command `EVALSHA`, with args beginning with: ", "ERR unknown command 'DELEX'",
			"ERR Unknown subcommand or wrong number of arguments for 'x'. Try ACL HELP.",
			"ERR unknown subcommand 'x'. Try CLIENT HELP.", "ERR wrong number of arguments for 'set' command",
			"ERR syntax error", "ERR value is not an integer or out of range",
			"ERR invalid expire time in 'set' command", "ERR operation not permitted",
			"ERR command eval not support for normal user", "ERR command 'EVAL' is not allowed",
			"ERR unsupported command 'watch'",
			"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Unknown Redis command called from Lua script",
			"ERR Unknown Redis command called from script script: 1, on @user_script:1.",
			"ERR Key should be of string type if conditions are specified", "MOVED 866 127.0.0.1:7001",
			"ASK 866 127.0.0.1:7001", "NOPERM User u has no permissions to run the 'set' command",
			"EXECABORT Transaction discarded because of previous errors." })
	void whatIsKnownToRefuseWasWithoutEffect(String said) {
		assertThat(translate(new InvalidDataAccessApiUsageException(said)).isWithoutEffect()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "ERR Connection timed out", "ERR Connection refused", "ERR Server closed connection",
			"ERR Connection to 'unknown command' reset", "ERR EXEC without MULTI", "ERR internal error",
			"ERR server 10.0.0.1:6379: read timeout", "ERR handle response, backend conn reset", "upstream failure",
			"ERR timeout waiting for 'lock:{unknown command called from}'" })
	void whatIsNotKnownToRefuseMayHaveBeenCarriedOut(String said) {
		assertThat(translate(new InvalidDataAccessApiUsageException(said))).satisfies((failure) -> {
			assertThat(failure.isWithoutEffect()).as("refused").isFalse();
			assertThat(failure.isRetryable()).as("retryable").isTrue();
		});
	}

	@Test
	void aFailureThatIsAmongItsOwnCausesIsTranslated() {
		RuntimeException failure = new RedisSystemException("Error in execution", new IllegalStateException("no"));
		failure.getCause().initCause(failure);
		LockBackendException translated = assertTimeoutPreemptively(Patience.PATIENCE, () -> translate(failure));
		assertThat(translated).hasMessageContaining("Redis could not").hasCause(failure);
		assertThat(assertTimeoutPreemptively(Patience.PATIENCE, () -> RedisFailures.isTimeout(failure))).isFalse();
	}

	@Test
	void whatAllOfSeveralServersSayIsToldIfNothingWasSent() {
		RuntimeException failure = new RedisConnectionFailureException("Could not initialize cluster slots cache.");
		failure.addSuppressed(new IllegalStateException("ERR This instance has cluster support disabled"));
		assertThat(translate(new UnsentException(failure)).getMessage())
			.startsWith("Redis could not renew lock 'k': ERR This instance has cluster support disabled (");
		assertThat(translate(failure).isWithoutEffect()).as("what was sent before is not known").isFalse();
		failure.addSuppressed(new ConnectException("Connection refused"));
		assertThat(translate(new UnsentException(failure)).isRetryable()).as("the other may answer later").isTrue();
	}

	@Test
	void aConnectionThatWasRefusedIsToldWithItsHostAndPort() {
		ConnectException netty = new ConnectException("Connection refused: localhost/127.0.0.1:1");
		netty.initCause(new ConnectException("Connection refused"));
		assertThat(translate(new RedisConnectionFailureException("Unable to connect to Redis", netty)))
			.hasMessageContaining("Connection refused: localhost/127.0.0.1:1 (");
	}

	@Test
	void whatTheServerDoesNotSayMayPass() {
		assertThat(translate(new QueryTimeoutException("Redis command timed out")).isRetryable()).isTrue();
		assertThat(translate(new RedisConnectionFailureException("Connection refused")).isRetryable()).isTrue();
		for (String message : new String[] { "Unable to connect to DENIED.example",
				"Unable to connect to DENIED example", "Unable to connect to ERR example",
				"Connection of NOAUTH-user lost", "Unable to connect to: ERR example" }) {
			assertThat(translate(new RedisConnectionFailureException(message)).isRetryable()).as(message).isTrue();
		}
		assertThat(translate(new CancellationException()).isRetryable()).isTrue();
		assertThat(translate(new IllegalStateException("the lock backend is closed")).isRetryable()).isFalse();
	}

	@Test
	void theDeepestCauseThatSaysAnythingIsTold() {
		assertThat(translate(new UnsentException(
				new RedisConnectionFailureException("the connection is still being opened", new TimeoutException()))))
			.hasMessageStartingWith("Redis could not renew lock 'k': the connection is still being opened (");
		assertThat(translate(new CancellationException()))
			.hasMessageStartingWith("Redis could not renew lock 'k': CancellationException (");
	}

	@Test
	void anInterruptThatWasSwallowedIsRestored() {
		translate(new RedisConnectionFailureException("Could not get a resource", new InterruptedException()));
		assertThat(Thread.interrupted()).as("interrupt flag").isTrue();
	}

	private static LockBackendException translate(RuntimeException failure) {
		return RedisFailures.translate("renew", "lock 'k'", failure);
	}

}
