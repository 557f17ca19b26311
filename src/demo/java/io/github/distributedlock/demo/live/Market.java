package io.github.distributedlock.demo.live;

import io.github.distributedlock.LockException;
import io.github.distributedlock.fixtures.NoDatabase;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * The application that runs in each JVM: customers who buy for as long as the JVM lives.
 */
// Found by nobody who scans the package above: the flash sale is another application.
@Import(NoDatabase.class)
class Market {

	/** The application has started; followed by the port of the Actuator. */
	static final String READY = "ready ";

	private static final int CUSTOMERS = 2;

	@Bean
	Stall stall() {
		return new Stall();
	}

	public static void main(String[] arguments) {
		ConfigurableApplicationContext market = SpringApplication.run(Market.class, arguments);
		Stall stall = market.getBean(Stall.class);
		for (Good good : Good.values()) {
			for (int number = 1; number <= CUSTOMERS; number++) {
				new Thread(() -> buyForEver(stall, good), good.sku() + "-customer-" + number).start();
			}
		}
		System.out.println(READY + market.getEnvironment().getRequiredProperty("local.server.port"));
	}

	private static void buyForEver(Stall stall, Good good) {
		while (true) {
			try {
				stall.sell(good.sku(), good.time());
			}
			catch (LockException ex) {
				// Another customer has the lock, or the lock was lost in a pause of the
				// JVM: the customer asks again.
			}
		}
	}

}
