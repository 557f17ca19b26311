package io.github.distributedlock.benchmark;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.sun.management.OperatingSystemMXBean;
import io.github.distributedlock.benchmark.Locks.Mutex;
import io.github.distributedlock.fixtures.ChildJvm;

/**
 * A JVM that obeys a {@link WorkerJvm}, one line at a time.
 */
record Worker(Locks locks, Blackboard blackboard, int number) {

	public static void main(String[] args) throws Exception {
		Locks locks = Contestant.valueOf(args[0]).open(Integer.parseInt(args[1]));
		Worker worker = new Worker(locks, new Blackboard(Path.of(args[2])), Integer.parseInt(args[3]));
		System.out.println("ready");
		while (true) {
			worker.execute(ChildJvm.awaitLine().split(" "));
		}
	}

	private void execute(String[] line) throws InterruptedException {
		switch (line[0]) {
			case "run" -> run(line[1], Integer.parseInt(line[2]), Long.parseLong(line[3]), Long.parseLong(line[4]));
			case "run-permits" -> runPermits(line[1], Integer.parseInt(line[2]), Long.parseLong(line[3]));
			case "run-own" -> runOwn(Integer.parseInt(line[1]), Long.parseLong(line[2]));
			case "hold" -> hold(mutex(line[1]));
			case "wait" -> await(line[1], Integer.parseInt(line[2]));
			case "keep" -> keep(Integer.parseInt(line[1]));
			case "cpu" -> System.out.println("cpu " + cpuNanos());
			case "compiled" -> System.out.println("compiled " + compiledMillis());
			case "attempts" -> System.out.println("attempts " + this.locks.attempts().orElse(-1));
			default -> throw new IllegalArgumentException(line[0]);
		}
	}

	private void run(String key, int threads, long millis, long holdMicros) throws InterruptedException {
		tell(new Gang(() -> this.blackboard.held(this.number), millis, holdMicros).run(mutexes(key, threads)));
	}

	private void runPermits(String key, int threads, long millis) throws InterruptedException {
		runTogether(mutexes(key, threads), millis);
	}

	private void runOwn(int threads, long millis) throws InterruptedException {
		runTogether(IntStream.range(0, threads)
			.mapToObj((thread) -> this.locks.mutex("own-" + this.number + "-" + thread))
			.toList(), millis);
	}

	// The threads hold at the same time, so that nobody may count.
	private void runTogether(List<Mutex> mutexes, long millis) throws InterruptedException {
		tell(new Gang(() -> {
		}, millis, 0).run(mutexes));
	}

	private static void tell(List<Gang.Member> members) {
		Durations waits = Durations.sum(members.stream().map(Gang.Member::waits).toList());
		Durations operations = Durations.sum(members.stream().map(Gang.Member::operations).toList());
		String counts = members.stream()
			.map((member) -> String.valueOf(member.inTime()))
			.collect(Collectors.joining(","));
		System.out.println("ran " + counts + " " + waits + " " + operations);
	}

	private List<Mutex> mutexes(String key, int threads) {
		return IntStream.range(0, threads).mapToObj((thread) -> mutex(key)).toList();
	}

	private Mutex mutex(String key) {
		return key.startsWith(PermitsCase.KEY) ? this.locks.permit(key, PermitsCase.PERMITS) : this.locks.mutex(key);
	}

	private void hold(Mutex mutex) throws InterruptedException {
		mutex.lock();
		System.out.println("held");
		ChildJvm.awaitLine();
		long micros = micros();
		mutex.unlock();
		System.out.println("released " + micros);
	}

	private void await(String key, int waiters) throws InterruptedException {
		List<Thread> threads = new ArrayList<>();
		CountDownLatch started = new CountDownLatch(waiters);
		AtomicLong last = new AtomicLong();
		for (Mutex mutex : mutexes(key, waiters)) {
			Thread thread = new Thread(() -> {
				started.countDown();
				mutex.lock();
				last.set(micros());
				mutex.unlock();
			});
			thread.start();
			threads.add(thread);
		}
		started.await();
		System.out.println("waiting");
		for (Thread thread : threads) {
			thread.join();
		}
		System.out.println("drained " + last);
	}

	private void keep(int count) {
		for (int i = 0; i < count; i++) {
			this.locks.mutex("kept-" + i).lock();
		}
		System.out.println("kept");
	}

	// All JVMs of a machine share this clock.
	private static long micros() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
	}

	private static long compiledMillis() {
		return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
	}

	private static long cpuNanos() {
		return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
	}

}
