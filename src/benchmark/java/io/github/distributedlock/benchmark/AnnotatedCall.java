package io.github.distributedlock.benchmark;

import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockListener;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.internal.observability.ObservabilityConfiguration;
import io.micrometer.observation.ObservationRegistry;
import jdk.jfr.Recording;
import org.aopalliance.intercept.MethodInterceptor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.StandardEnvironment;

/**
 * The cost of an annotated method over one that is merely proxied, and the cost of being
 * observable, without a store.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AnnotatedCall {

	static final String ANNOTATED = "annotated, key by a template";

	static final String BY_HAND = "by hand";

	static final String LISTENED_TO = "by hand, a listener that does nothing";

	static final String RECORDER_OFF = "by hand, events of the flight recorder off";

	static final String RECORDER_ON = "by hand, events of the flight recorder on";

	static final String UNOBSERVED = "by hand, no-op registry of observations";

	static final String PLAIN = "plain proxy";

	private LockEngine engine;

	private LockEngine listenedTo;

	private LockEngine recordable;

	private LockEngine unobserved;

	private Service annotated;

	private Service plain;

	@Setup
	public void open() {
		this.engine = LockEngine.builder(new InMemoryLockBackend()).build();
		this.listenedTo = LockEngine.builder(new InMemoryLockBackend()).listener((event) -> {
		}).build();
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.registerBean(ObservationRegistry.class, () -> ObservationRegistry.NOOP);
			context.register(ObservabilityConfiguration.class);
			context.refresh();
			// Beside another listener, which every application has.
			this.recordable = LockEngine.builder(new InMemoryLockBackend()).listener((event) -> {
			}).listener(context.getBean(LockListener.class)).build();
			this.unobserved = LockEngine.builder(new InMemoryLockBackend())
				.waitObserver(context.getBean(WaitObserver.class))
				.build();
		}
		ProxyFactory annotated = new ProxyFactory(new Service());
		annotated.addAdvisor(new DistributedLockAdvisor((store) -> this.engine, new DefaultListableBeanFactory(),
				new StandardEnvironment()));
		this.annotated = (Service) annotated.getProxy();
		ProxyFactory plain = new ProxyFactory(new Service());
		plain.addAdvice((MethodInterceptor) (call) -> call.proceed());
		this.plain = (Service) plain.getProxy();
	}

	@TearDown
	public void close() {
		this.engine.close();
		this.listenedTo.close();
		this.recordable.close();
		this.unobserved.close();
	}

	@Benchmark
	public String annotated() {
		return this.annotated.buy("sku", 1);
	}

	@Benchmark
	public String plain() {
		return this.plain.buy("sku", 1);
	}

	@Benchmark
	public void byHand() {
		this.engine.acquire("stock:sku").close();
	}

	@Benchmark
	public void listenedTo() {
		this.listenedTo.acquire("stock:sku").close();
	}

	@Benchmark
	public void recorderOff() {
		this.recordable.acquire("stock:sku").close();
	}

	@Benchmark
	public void recorderOn(RunningRecording recording) {
		this.recordable.acquire("stock:sku").close();
	}

	@Benchmark
	public void unobserved() {
		this.unobserved.acquire("stock:sku").close();
	}

	/**
	 * A recording that is under way.
	 */
	@State(Scope.Benchmark)
	public static class RunningRecording {

		private final Recording recording = new Recording();

		@Setup
		public void start() {
			this.recording.enable("io.github.distributedlock.LockAcquire").withoutStackTrace();
			this.recording.enable("io.github.distributedlock.LockHeld").withoutStackTrace();
			this.recording.setMaxSize(10_000_000);
			this.recording.start();
		}

		@TearDown
		public void stop() {
			this.recording.close();
		}

	}

	/**
	 * A service that does nothing.
	 */
	public static class Service {

		@DistributedLock(key = "stock:#{#sku}")
		public String buy(String sku, int units) {
			return sku;
		}

	}

}
