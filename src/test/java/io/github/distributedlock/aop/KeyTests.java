package io.github.distributedlock.aop;

import java.time.LocalDate;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * The keys that a call locks, and the values that are no keys.
 */
class KeyTests {

	@Test
	void keysOfACall() {
		Order order = new Order(7, "a-1");
		assertThat(keys("order", "stock:#{#order.sku}/#{#order.id}", order)).containsExactly("stock:a-1/7");
		assertThat(keys("order", "'order:' + #order.id()", order)).containsExactly("order:7");
		assertThat(keys("pair", "#{#p0}/#{#a1}", "x", "y")).containsExactly("x/y");
		assertThat(keys("names", "#names", List.of("a", "b", "a"))).containsExactly("a", "b");
		assertThat(keys("array", "#numbers", (Object) new Integer[] { 3, 4 })).containsExactly("3", "4");
		assertThat(keys("primitives", "#numbers", new long[] { 5, 6 })).containsExactly("5", "6");
		assertThat(keys("orders", "stock:#{#orders.?[id > 0].![sku]}!", List.of(new Order(1, "a"), new Order(2, "b"))))
			.containsExactly("stock:a!", "stock:b!");
	}

	@Test
	void quotedTextIsAFixedKeyAndOneRequestServesAllCalls() {
		RequestTemplate template = Definitions.ofKey(Parameters.class, "value", "'nightly-report'", Map.of())
			.template();
		LockRequest request = template.request(this, new Object[] { "a" });
		assertThat(request.keys()).containsExactly("nightly-report");
		assertThat(template.request(this, new Object[] { "b" })).isSameAs(request);
	}

	@Test
	void severalStringsAreSeveralLocksAndAreNeverJoined() {
		RequestTemplate template = Definitions
			.of(Parameters.class, "pair", Map.of("key", new String[] { "#first", "#second" }), Map.of(), Map.of())
			.template();
		assertThat(template.request(this, new Object[] { "a", "b:c" }).keys()).containsExactly("a", "b:c");
		assertThat(template.request(this, new Object[] { "a:b", "c" }).keys()).containsExactly("a:b", "c");
		assertThatIllegalArgumentException().isThrownBy(() -> template.request(this, new Object[] { "a", null }))
			.withMessageContaining("key = \"#second\" is null");
	}

	@Test
	void rootBeanAndClassOfTheApplication() {
		try (AdvisorContext context = AdvisorContext.of(Keys.class, Tenants.class)) {
			Keys keys = context.get(Keys.class);
			keys.root("x");
			assertThat(context.lock().keys()).containsExactly("root", Keys.class.getName(), "x", "kiosk", "eu");
			keys.bean("x");
			assertThat(context.lock().keys()).containsExactly("tenant-x");
			Thread thread = Thread.currentThread();
			ClassLoader own = thread.getContextClassLoader();
			try {
				thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
				keys.type("a");
			}
			finally {
				thread.setContextClassLoader(own);
			}
			assertThat(context.lock().keys()).containsExactly("of a");
		}
	}

	@Test
	void callWhoseKeyFailsTakesNoLockAndDoesNotRun() {
		try (AdvisorContext context = AdvisorContext.of(Keys.class, Tenants.class)) {
			Keys keys = context.get(Keys.class);
			// The failure is among its own causes.
			assertTimeoutPreemptively(Patience.PATIENCE,
					() -> assertThatIllegalArgumentException().isThrownBy(() -> keys.bean(null))
						.withMessageContaining(
								"Keys.bean(String): key = \"@tenants.of(#name)\" could not be evaluated ("));
			assertThat(context.lock().requests).isEmpty();
			assertThat(keys.calls()).isZero();
			keys.bean("x");
			assertThat(keys.calls()).isOne();
		}
	}

	static List<Object> values() {
		UUID id = UUID.randomUUID();
		return List.of(new Object[] { new StringBuilder("sb"), "sb" }, new Object[] { 42L, "42" },
				new Object[] { true, "true" }, new Object[] { 'c', "c" }, new Object[] { id, id.toString() },
				new Object[] { LocalDate.of(2024, 1, 2), "2024-01-02" }, new Object[] { Shown.ONE, "ONE" });
	}

	@ParameterizedTest
	@MethodSource("values")
	void plainValuesAreText(Object value, String text) {
		assertThat(keys("value", "#value", value)).containsExactly(text);
		assertThat(keys("value", "v:#{#value}", value)).containsExactly("v:" + text);
	}

	static List<Object> noKeys() {
		return List.of(new Object(), new Order(1, "a"), Map.of("a", 1), Optional.of("a"), new Date(),
				new byte[] { 1, 2 }, List.of(List.of("a")), Thread.currentThread(), new Wordless());
	}

	@ParameterizedTest
	@MethodSource("noKeys")
	void valueThatNeedNotReadTheSameInEveryJvmIsRefused(Object value) {
		assertRefused("#value", value, "key = \"#value\" is a ",
				"whose text need not be the same in every JVM: name what identifies it, such as #order.id");
		assertRefused("v:#{#value}", value, "key = \"v:#{#value}\", of which #value is a ");
	}

	@Test
	void nullBlankAndEmptyAreRefused() {
		String remedy = " is null: check it before the call, or write what to lock instead, (#value ?: 'none')";
		assertRefused("#value", null, "key = \"#value\"" + remedy);
		assertRefused("v:#{#value}", null, "key = \"v:#{#value}\", of which #value" + remedy);
		assertRefused("#value", Arrays.asList("a", null), "has an element that is null");
		assertRefused("#value", " ", "key = \"#value\" is blank");
		assertRefused("v:#{#value}", "", "key = \"v:#{#value}\", of which #value is blank");
		assertRefused("#value", new String[] { "a", "" }, "has an element that is blank");
		assertRefused("#value", List.of(), "key = \"#value\" is empty");
		assertRefused("v:#{#value}", new int[0], "of which #value is empty");
	}

	@Test
	void expressionThatFailsSaysWhichAndWhy() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> keys("order", "stock:#{#order.sku}/#{#order.id}", (Object) null))
			.withMessageContainingAll("Parameters.order(Order): key = \"stock:#{#order.sku}/",
					"of which #order.sku could not be evaluated", "null");
	}

	@Test
	void assignmentIsRefused() {
		Account account = new Account();
		for (String key : List.of("#account.id = 5", "#account.id++")) {
			assertThatIllegalArgumentException().isThrownBy(() -> keys("account", key, account))
				.withMessageContaining("key = \"" + key + "\" could not be evaluated");
		}
		assertThat(account.id).isEqualTo(1);
	}

	private static List<String> keys(String method, String key, Object... arguments) {
		return Definitions.ofKey(Parameters.class, method, key, Map.of())
			.template()
			.request(new Object(), arguments)
			.keys();
	}

	private static void assertRefused(String key, Object value, String... messages) {
		assertThatIllegalArgumentException().isThrownBy(() -> keys("value", key, new Object[] { value }))
			.withMessageStartingWith("@DistributedLock on " + Parameters.class.getName())
			.withMessageContainingAll(messages);
	}

	public static String of(String name) {
		return "of " + name;
	}

	interface Parameters {

		void value(Object value);

		void pair(String first, String second);

		void order(Order order);

		void names(Collection<String> names);

		void array(Integer... numbers);

		void primitives(long[] numbers);

		void orders(List<Order> orders);

		void account(Account account);

	}

	record Order(int id, String sku) {

		// An overridden toString is not enough: the text may differ between JVMs.
		@Override
		public String toString() {
			return "order";
		}

	}

	/**
	 * A number that has the JDK's text, of the JVM.
	 */
	static class Wordless extends Number {

		@Override
		public int intValue() {
			return 1;
		}

		@Override
		public long longValue() {
			return 1;
		}

		@Override
		public float floatValue() {
			return 1;
		}

		@Override
		public double doubleValue() {
			return 1;
		}

	}

	static class Account {

		public int id = 1;

	}

	enum Shown {

		ONE;

		@Override
		public String toString() {
			return "Eins";
		}

	}

	@Component("tenants")
	static class Tenants {

		public String of(String name) {
			if (name == null) {
				IllegalStateException failure = new IllegalStateException(new IllegalStateException());
				failure.getCause().initCause(failure);
				throw failure;
			}
			return "tenant-" + name;
		}

	}

	@Component
	static class Keys {

		public static final String REGION = "eu";

		public String kiosk = "kiosk";

		private int calls;

		public int calls() {
			return this.calls;
		}

		@DistributedLock(key = { "'' + #root.methodName", "#root.method.name", "#root.targetClass", "#root.args[0]",
				"#root.target.kiosk", "methodName", "#root.targetClass.REGION" })
		public void root(String name) {
		}

		@DistributedLock(key = "T(io.github.distributedlock.aop.KeyTests).of(#name)")
		public void type(String name) {
		}

		@DistributedLock(key = "@tenants.of(#name)")
		public void bean(String name) {
			this.calls++;
		}

	}

}
