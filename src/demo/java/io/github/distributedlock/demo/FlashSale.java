package io.github.distributedlock.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.distributedlock.tck.History.Hold;

/**
 * Sells the same number of units three times, in three JVMs with eight buyers each:
 * without a lock, with a lock, and with a lock whose holder is killed.
 * <p>
 * {@code ./mvnw -f src/demo spring-boot:test-run} ends with 0 if the rounds with the lock
 * were exact. {@code -Ppostgresql} has the stock and the locks in PostgreSQL.
 */
public final class FlashSale implements AutoCloseable {

	static final int JVMS = 3;

	private static final int UNITS = 500;

	/** Followed by where the stock and the locks are. */
	private static final String STORE = "--store=";

	private final int units;

	private final Progress progress;

	private final String store;

	private final Server server;

	private final List<Branch> branches = new ArrayList<>();

	FlashSale(String store, int units, Progress progress) {
		this.store = store;
		this.server = Server.start(store);
		this.units = units;
		this.progress = progress;
	}

	public static void main(String[] arguments) throws Exception {
		String store = Stream.of(arguments)
			.filter((argument) -> argument.startsWith(STORE))
			.map((argument) -> argument.substring(STORE.length()))
			.findAny()
			.orElse(Server.REDIS);
		Report report;
		try (FlashSale sale = new FlashSale(store, UNITS, new Progress(System.out, Terminal.isThere()))) {
			System.out.println(Report.title(UNITS, sale.server.name()));
			report = sale.run();
		}
		System.out.print(report);
		System.exit(report.isExact() ? 0 : 1);
	}

	Report run() throws IOException, InterruptedException {
		open();
		Round unlocked = sell("Round 1 of 3: no lock", Shop.SELL);
		Round locked = sell("Round 2 of 3: @DistributedLock", Shop.SELL_LOCKED);
		return sellAndKill(unlocked, locked);
	}

	private void open() throws IOException {
		Path directory = Files.createTempDirectory("flash-sale");
		directory.toFile().deleteOnExit();
		for (int number = 1; number <= JVMS; number++) {
			this.branches.add(Branch.start("jvm-" + number, this.store, this.server.properties(), directory));
		}
		for (int ready = 0; ready < JVMS; ready++) {
			this.progress.show("Starting the shop", ready, JVMS, "JVMs");
			this.branches.get(ready).awaitStart();
		}
	}

	private Round sell(String title, String order) throws InterruptedException {
		Sale sale = sale(order.strip());
		this.branches.forEach((branch) -> branch.send(order + sale.sku()));
		sale.awaitEnd(title, this.branches);
		return sale.result(this.branches);
	}

	private Report sellAndKill(Round unlocked, Round locked) throws InterruptedException {
		Sale sale = sale("sell-and-kill");
		Branch victim = this.branches.get(0);
		victim.send(Shop.FAINT_AT + this.units / 10);
		this.branches.forEach((branch) -> branch.send(Shop.SELL_LOCKED + sale.sku()));
		sale.await("Round 3 of 3: JVM 1 will be killed", victim::hasFainted);
		// The clerk who fainted has the lock, and has read the stock but not written the
		// new count.
		// So no sale is half done: the count must be exact in the end.
		long killed = System.nanoTime();
		victim.kill();
		List<Branch> others = this.branches.subList(1, JVMS);
		sale.awaitEnd("Round 3 of 3: JVM 1 is dead", others);
		Optional<Takeover> takeover = Takeover.find(killed, victim.holds(), holds(others));
		return new Report(unlocked, locked, sale.result(this.branches), takeover, holds(this.branches));
	}

	private Sale sale(String sku) {
		return new Sale(sku, this.units, this.server.stock(), this.progress);
	}

	private static List<Hold> holds(List<Branch> branches) {
		return branches.stream().flatMap((branch) -> branch.holds().stream()).toList();
	}

	@Override
	public void close() {
		this.progress.clear();
		this.branches.forEach(Branch::close);
		this.server.close();
	}

}
