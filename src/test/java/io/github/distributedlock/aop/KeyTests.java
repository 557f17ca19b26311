package io.github.distributedlock.aop;

import java.time.LocalDate;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * What keys a call locks, and which values are no keys.
 */
class KeyTests {

	private AdvisorContext context;

	private Keys keys;

	@BeforeEach
	void start() {
		this.context = AdvisorContext.of(Keys.class, Tenants.class);
		this.keys = this.context.get(Keys.class);
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	private List<String> locked() {
		return this.context.lock().keys();
	}

	@Test
	void aFailureThatIsAmongItsOwnCausesFailsTheCall() {
		assertTimeoutPreemptively(Patience.PATIENCE, () -> assertFailsUnlocked(() -> this.keys.bean(null),
				"key = \"@tenants.of(#name)\" could not be evaluated ("));
	}

	@Test
	void classOfTheApplicationIsFoundWhateverTheThreadLoads() {
		Thread thread = Thread.currentThread();
		ClassLoader own = thread.getContextClassLoader();
		try {
			thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
			this.keys.type("a");
		}
		finally {
			thread.setContextClassLoader(own);
		}
		assertThat(locked()).containsExactly("of a");
	}

	@Test
	void templateMixesTextAndExpressions() {
		this.keys.template(new Order(7, "a-1"));
		assertThat(locked()).containsExactly("stock:a-1/7");
	}

	@Test
	void expressionIsSpel() {
		this.keys.expression(new Order(7, "a-1"));
		assertThat(locked()).containsExactly("order:7");
	}

	@Test
	void quotedTextIsAFixedKeyAndOneRequestServesAllCalls() {
		this.keys.fixed();
		this.keys.fixed();
		assertThat(locked()).containsExactly("nightly-report");
		List<?> requests = this.context.lock().requests;
		assertThat(requests.get(0)).isSameAs(requests.get(1));
	}

	@Test
	void severalStringsAreSeveralLocksAndAreNeverJoined() {
		this.keys.several("a", "b:c");
		assertThat(locked()).containsExactly("a", "b:c");
		this.keys.several("a:b", "c");
		assertThat(locked()).containsExactly("a:b", "c");
	}

	@Test
	void parametersByPosition() {
		this.keys.byPosition("x", "y");
		assertThat(locked()).containsExactly("x/y");
	}

	@Test
	void rootTellsAboutTheCall() {
		this.keys.root("x");
		assertThat(locked()).containsExactly("root", Keys.class.getName(), "x", "kiosk");
	}

	@Test
	void beanIsReached() {
		this.keys.bean("x");
		assertThat(locked()).containsExactly("tenant-x");
	}

	@Test
	void collectionAndArrayGiveSeveralKeys() {
		this.keys.collection(List.of("a", "b", "a"));
		assertThat(locked()).containsExactly("a", "b");
		this.keys.array(3, 4);
		assertThat(locked()).containsExactly("3", "4");
		this.keys.primitives(new long[] { 5, 6 });
		assertThat(locked()).containsExactly("5", "6");
	}

	@Test
	void collectionInATemplateGivesOneKeyForEachElement() {
		this.keys.collectionInTemplate(List.of(new Order(1, "a"), new Order(2, "b")));
		assertThat(locked()).containsExactly("stock:a!", "stock:b!");
	}

	@Test
	void withoutKeyItIsTheClassAndTheMethodAndOverloadsShareIt() {
		this.keys.noKey();
		assertThat(locked()).containsExactly(Keys.class.getName() + ".noKey");
		this.keys.noKey(1);
		assertThat(locked()).containsExactly(Keys.class.getName() + ".noKey");
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
		this.keys.value(value);
		assertThat(locked()).containsExactly(text);
		this.keys.valueInTemplate(value);
		assertThat(locked()).containsExactly("v:" + text);
	}

	static List<Object> noKeys() {
		return List.of(new Object(), new Order(1, "a"), Map.of("a", 1), Optional.of("a"), new Date(),
				new byte[] { 1, 2 }, List.of(List.of("a")), Thread.currentThread(), new Wordless());
	}

	@ParameterizedTest
	@MethodSource("noKeys")
	void valueThatNeedNotReadTheSameInEveryJvmIsRefused(Object value) {
		assertFailsUnlocked(() -> this.keys.value(value), "key = \"#value\" is a ",
				"whose text need not be the same in every JVM: name what identifies it, such as #order.id");
		assertFailsUnlocked(() -> this.keys.valueInTemplate(value), "key = \"v:#{#value}\", of which #value is a ");
	}

	@Test
	void nullIsRefused() {
		assertFailsUnlocked(() -> this.keys.value(null), "key = \"#value\" is null: check it before the call,"
				+ " or write what to lock instead, (#value ?: 'none')");
		assertFailsUnlocked(() -> this.keys.valueInTemplate(null),
				"key = \"v:#{#value}\", of which #value is null: check it"
						+ " before the call, or write what to lock instead, (#value ?: 'none')");
		assertFailsUnlocked(() -> this.keys.value(Arrays.asList("a", null)), "has an element that is null");
		assertFailsUnlocked(() -> this.keys.severalWithOneNull(null), "key = \"#value\" is null");
	}

	@Test
	void blankIsRefused() {
		assertFailsUnlocked(() -> this.keys.value(" "), "key = \"#value\" is blank");
		assertFailsUnlocked(() -> this.keys.valueInTemplate(""), "key = \"v:#{#value}\", of which #value is blank");
		assertFailsUnlocked(() -> this.keys.value(new String[] { "a", "" }), "has an element that is blank");
	}

	@Test
	void emptyIsRefused() {
		assertFailsUnlocked(() -> this.keys.value(List.of()), "key = \"#value\" is empty");
		assertFailsUnlocked(() -> this.keys.valueInTemplate(new int[0]), "of which #value is empty");
	}

	@Test
	void expressionThatFailsSaysWhichAndWhy() {
		assertFailsUnlocked(() -> this.keys.template(null), "Keys.template(Order): key = \"stock:#{#order.sku}/",
				"of which #order.sku could not be evaluated", "null");
	}

	@Test
	void assignmentIsRefused() {
		Account account = new Account();
		assertFailsUnlocked(() -> this.keys.assignment(account), "key = \"#account.id = 5\" could not be evaluated");
		assertFailsUnlocked(() -> this.keys.increment(account), "key = \"#account.id++\" could not be evaluated");
		assertThat(account.id).isEqualTo(1);
	}

	private void assertFailsUnlocked(Runnable call, String... messages) {
		assertThatIllegalArgumentException().isThrownBy(call::run).satisfies((ex) -> {
			assertThat(ex).hasMessageStartingWith("@DistributedLock on " + Keys.class.getName());
			assertThat(ex.getMessage()).contains(messages);
		});
		assertThat(this.context.lock().requests).isEmpty();
		assertThat(this.keys.calls()).isZero();
	}

	public static String of(String name) {
		return "of " + name;
	}

	record Order(int id, String sku) {

		// A text of its own is not enough: who knows what is in it.
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

		public String kiosk = "kiosk";

		private int calls;

		public int calls() {
			return this.calls;
		}

		@DistributedLock(key = "stock:#{#order.sku}/#{#order.id}")
		public void template(Order order) {
			this.calls++;
		}

		@DistributedLock("'order:' + #order.id()")
		public void expression(Order order) {
			this.calls++;
		}

		@DistributedLock(key = "'nightly-report'")
		public void fixed() {
			this.calls++;
		}

		@DistributedLock(key = { "#first", "#second" })
		public void several(String first, String second) {
			this.calls++;
		}

		@DistributedLock(key = "#{#p0}/#{#a1}")
		public void byPosition(String first, String second) {
			this.calls++;
		}

		@DistributedLock(key = { "'' + #root.methodName", "#root.method.name", "#root.targetClass", "#root.args[0]",
				"#root.target.kiosk", "methodName" })
		public void root(String name) {
			this.calls++;
		}

		@DistributedLock(key = "T(io.github.distributedlock.aop.KeyTests).of(#name)")
		public void type(String name) {
			this.calls++;
		}

		@DistributedLock(key = "@tenants.of(#name)")
		public void bean(String name) {
			this.calls++;
		}

		@DistributedLock(key = "#names")
		public void collection(Collection<String> names) {
			this.calls++;
		}

		@DistributedLock(key = "#numbers")
		public void array(Integer... numbers) {
			this.calls++;
		}

		@DistributedLock(key = "#numbers")
		public void primitives(long[] numbers) {
			this.calls++;
		}

		@DistributedLock(key = "stock:#{#orders.?[id > 0].![sku]}!")
		public void collectionInTemplate(List<Order> orders) {
			this.calls++;
		}

		@DistributedLock
		public void noKey() {
			this.calls++;
		}

		@DistributedLock
		public void noKey(int overloaded) {
			this.calls++;
		}

		@DistributedLock(key = "#account.id = 5")
		public void assignment(Account account) {
			this.calls++;
		}

		@DistributedLock(key = "#account.id++")
		public void increment(Account account) {
			this.calls++;
		}

		@DistributedLock(key = "#value")
		public void value(Object value) {
			this.calls++;
		}

		@DistributedLock(key = "v:#{#value}")
		public void valueInTemplate(Object value) {
			this.calls++;
		}

		@DistributedLock(key = { "'fixed'", "#value" })
		public void severalWithOneNull(String value) {
			this.calls++;
		}

	}

}
