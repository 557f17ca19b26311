package io.github.distributedlock.benchmark;

import java.util.concurrent.TimeUnit;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
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
import org.springframework.core.env.StandardEnvironment;

/**
 * What an annotated method costs over one that is merely proxied, without a store.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AnnotatedCall {

	static final String ANNOTATED = "annotated, key by a template";

	static final String BY_HAND = "by hand";

	static final String PLAIN = "plain proxy";

	private LockEngine engine;

	private Service annotated;

	private Service plain;

	@Setup
	public void open() {
		this.engine = LockEngine.builder(new InMemoryLockBackend()).build();
		ProxyFactory annotated = new ProxyFactory(new Service());
		annotated.addAdvisor(new DistributedLockAdvisor(() -> this.engine, new DefaultListableBeanFactory(),
				new StandardEnvironment()));
		this.annotated = (Service) annotated.getProxy();
		ProxyFactory plain = new ProxyFactory(new Service());
		plain.addAdvice((MethodInterceptor) (call) -> call.proceed());
		this.plain = (Service) plain.getProxy();
	}

	@TearDown
	public void close() {
		this.engine.close();
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
