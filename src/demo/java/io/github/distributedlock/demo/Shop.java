package io.github.distributedlock.demo;

import java.util.function.Predicate;

import io.github.distributedlock.fixtures.ChildJvm;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The application in each JVM. The standard input says what to do, the standard output
 * what has happened.
 */
@SpringBootApplication
class Shop {

	/** Followed by what to sell: at a till that anybody uses at any time. */
	static final String SELL = "sell ";

	/** Followed by what to sell: at a till with a lock. */
	static final String SELL_LOCKED = "sell-locked ";

	/** Followed by which of the next sales is to stop half-way. */
	static final String FAINT_AT = "faint-at ";

	/** The application has started. */
	static final String READY = "ready";

	/** Followed by what there is none left of. */
	static final String CLOSED = "closed ";

	/** A sale has stopped half-way, with the lock held and nothing written. */
	static final String FAINTED = "fainted";

	public static void main(String[] arguments) throws InterruptedException {
		try (ConfigurableApplicationContext shop = new SpringApplicationBuilder(Shop.class).web(WebApplicationType.NONE)
			.run(arguments)) {
			System.out.println(READY);
			while (true) {
				obey(ChildJvm.awaitLine(), shop);
			}
		}
	}

	private static void obey(String order, ConfigurableApplicationContext shop) throws InterruptedException {
		if (order.startsWith(SELL)) {
			sell(order.substring(SELL.length()), shop.getBean(Till.class)::sell);
		}
		else if (order.startsWith(SELL_LOCKED)) {
			sell(order.substring(SELL_LOCKED.length()), shop.getBean(LockedTill.class)::sell);
		}
		else if (order.startsWith(FAINT_AT)) {
			shop.getBean(Clerk.class).faintAt(Integer.parseInt(order.substring(FAINT_AT.length())));
		}
	}

	private static void sell(String sku, Predicate<String> till) throws InterruptedException {
		Buyers.buyOut(sku, till);
		System.out.println(CLOSED + sku);
	}

}
