package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.awaitility.Awaitility.await;

/**
 * A process that is at the system's limit of threads, so that no thread can be started.
 */
@Tag("faults")
class ThreadLimitFaultsTests {

	/** A renewal comes after 6 s, when idle threads have ended. */
	private static final Duration LEASE = Duration.ofSeconds(18);

	@EachClient
	void heldLocksAreRenewedAndALossIsTold(Client client) throws Exception {
		FaultRow.of("process at its limit of threads: one lock held, one taken by others", client).run((trial) -> {
			try (JvmProcess child = JvmProcess.startUnprivileged(Application.class, client.toString(),
					String.valueOf(trial.server().port()))) {
				child.awaitLine("both are held");
				child.limitThreads(true);
				child.send("try to start a thread");
				child.awaitLine("no thread can be had");
				trial.admin((redis) -> {
					for (int i = 0; i < 2; i++) {
						await("the lease is older than a renewal lets it become")
							.until(() -> isLeft(redis.pttl(KEPT), 2));
						await("a renewal").until(() -> !isLeft(redis.pttl(KEPT), 2));
					}
					redis.del("lock:{taken}");
				});
				child.awaitLine("interrupted");
				child.limitThreads(false);
				for (int i = 0; i < 3; i++) {
					child.awaitLineAfter("told: ");
				}
				child.send("end");
				child.send("end");
				child.awaitLine("kept is held: true");
				child.awaitExit();
			}
		});
	}

	private static final String KEPT = "lock:{kept}";

	/**
	 * Returns whether less of a lease is left than after renewals that are in time.
	 */
	private static boolean isLeft(long millis, int thirds) {
		return millis < LEASE.toMillis() * thirds / 3 + TimeUnit.SECONDS.toMillis(2);
	}

	/**
	 * The application in the limited process. Arguments: client, port.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Service.class)
	static class Application {

		public static void main(String[] arguments) throws InterruptedException {
			SpringApplication application = new SpringApplication(Application.class);
			application.setWebApplicationType(WebApplicationType.NONE);
			application.setRegisterShutdownHook(false);
			ConfigurableApplicationContext context = application.run("--spring.data.redis.client-type=" + arguments[0],
					"--spring.data.redis.port=" + arguments[1], "--distributed-lock.watchdog-timeout=" + LEASE,
					"--spring.main.banner-mode=off", "--spring.sql.init.mode=never");
			DistributedLock lock = context.getBean(DistributedLock.class);
			LockHandle kept = lock.acquire(LockRequest.of("kept").detached(true));
			Service service = context.getBean(Service.class);
			Thread worker = new Thread(service::work);
			worker.start();
			String line = ChildJvm.awaitLine();
			try {
				new Thread(() -> {
				}).start();
				System.out.println(line + ": that is possible");
			}
			catch (OutOfMemoryError noThread) {
				System.out.println("no thread can be had");
			}
			ChildJvm.awaitLine();
			System.out.println("kept is held: " + kept.isHeld());
			kept.close();
			Runtime.getRuntime().halt(0);
		}

		@Bean
		LockListener listener() {
			return (event) -> {
				if (event instanceof LockEvent.Lost) {
					System.out.println("told: event");
				}
			};
		}

	}

	static class Service {

		@io.github.distributedlock.annotation.DistributedLock(key = "'taken'", onLost = OnLost.INTERRUPT)
		void work() {
			LockHandle taken = LockHandle.current().orElseThrow();
			taken.onLost(() -> System.out.println("told: action"));
			taken.onLost(() -> System.out.println("told: on its executor"), Runnable::run);
			System.out.println("both are held");
			try {
				Thread.sleep(Patience.PATIENCE.toMillis());
			}
			catch (InterruptedException ex) {
				System.out.println("interrupted");
			}
			try { // The actions run only while the method does.
				ChildJvm.awaitLine();
			}
			catch (InterruptedException ex) {
				System.out.println("interrupted again");
			}
		}

	}

}
