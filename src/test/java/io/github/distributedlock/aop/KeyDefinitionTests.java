package io.github.distributedlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Keys that can only fail are refused at start-up, with the remedy.
 */
class KeyDefinitionTests {

	@ParameterizedTest(name = "{index}: {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					nothing   | nightly-report                        | (): key = "nightly-report" reads the word nightly as a property of nothing | write "'nightly-report'" in quotes
					nothing   | nightly report                        | (): key = "nightly report" is not a valid SpEL expression | write "'nightly report'" in quotes
					mode      | mode:#{#mode == LockMode.SHARED}      | reads the word LockMode as a property of nothing | T(….LockMode), with its package, for a class
					text      | stock:#sku                            | : key = " | and for text with a value in it "text:#{#value}")
					text      | stock-#sku                            | : key = " | and for text with a value in it "text:#{#value}")
					text      | #sku/eu                               | : key = " | and for text with a value in it "text:#{#value}")
					text      | ${region:eu}:#sku.length():#sku       | : key = " | and for text with a value in it "text:#{#value}")
					text      | a#{#sku                               | key = "a#{#sku" is not a valid SpEL template | (close it with })
					text      | stock:#{sku}                          | (String): key = "stock:#{sku}" reads the word sku | #sku for the parameter
					text      | #sku.concat(suffix)                   | reads the word suffix | #sku.concat(suffix)
					id        | #id                                   | (OrderId): key = "#id" has the value #id, which is a | $OrderId, whose text need not be the same in every JVM: name what identifies it
					map       | #order                                | (Map): | , whose text need not be the same in every JVM: name what identifies it
					list      | #ids                                  | (List): | , whose text need not be the same in every JVM: name what identifies it
					array     | #ids                                  | (OrderId[]): | , whose text need not be the same in every JVM: name what identifies it
					basket    | #basket.id                            | (Basket): | , whose text need not be the same in every JVM: name what identifies it
					id        | order:#{#id}                          | (OrderId): | , whose text need not be the same in every JVM: name what identifies it
					id        | #id.valeu                             | reads valeu of io.github.distributedlock.aop.KeyDefinitionTests$OrderId, which has no such property | it has value
					basket    | order:#{#basket.id.valeu}             | reads valeu of io.github.distributedlock.aop.KeyDefinitionTests$OrderId, which has no such property | it has value
					when      | #when                                 | (Date): key = "#when" has the value #when, which is a java.util.Date, whose text need not be the same in every JVM | (Date)
					days      | day:#{#days}                          | (List): | whose text need not be the same in every JVM
					nothing   | job:#{#root.methodname}               | reads methodname of | it has method, methodName, target, targetClass, args
					nothing   | #root                                 | has the value #root, which is a | whose text need not be the same in every JVM
					nothing   | #root.method                          | has the value #root.method, which is a java.lang.reflect.Method, whose text | (
					tree      | tree:#{#root.value}                   | names the parameter root by #root, which SpEL has for something else | (write #p0)
					nothing   | tenant()                              | key = "tenant()" | write #root.target.tenant()
					texts     | #skus.![#this.concat(#suffix)]        | (List): key = "#skus.![#this.concat(#suffix)]" names the unknown parameter #suffix | write one of #skus, #p0
					text      | #p1                                   | names the unknown parameter #p1 | #p0
					text      | #hash(#sku)                           | calls the unknown function #hash(#sku) | (
					nothing   | ' '                                   | key = "' '" is blank | (
					nothing   | null                                  | key = "null" is null | (
					nothing   | ``                                    | key = "" is blank | (write an expression
					""")
	void keyThatCannotWork(String method, String key, String problem, String remedy) {
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> Definitions.ofKey(Parameters.class, method, key, Map.of()))
			.withMessageStartingWith("@DistributedLock on ")
			.withMessageContainingAll("$Parameters." + method + "(", problem, remedy);
	}

	@Test
	void wordsAreFineForAnElementOrAMapIndex() {
		try (AdvisorContext context = AdvisorContext.of(WordsInTheirPlace.class)) {
			context.get(WordsInTheirPlace.class).buy(List.of(new Order("a")), Map.of("sku", "b"));
			assertThat(context.lock().keys()).containsExactly("a", "b", "ab");
		}
	}

	@Test
	void declaredTypeThatMayHaveText() {
		try (AdvisorContext context = AdvisorContext.of(OpenTypes.class)) {
			context.get(OpenTypes.class).buy("a", List.of("b"), new Basket(new OrderId("c")), 1, TimeUnit.DAYS);
			assertThat(context.lock().keys()).containsExactly("a", "b", "c", "1", "DAYS");
		}
	}

	@Test
	void parameterNamesThatAreNotInTheClassFile(@TempDir Path directory) throws Exception {
		String source = """
				import io.github.distributedlock.annotation.DistributedLock;
				public class %s {
					@DistributedLock(key = "%s")
					public void buy(String sku) { }
				}
				""";
		Class<?> unnamed = Sources.compile(directory, "Unnamed", Map.of("Unnamed", source.formatted("Unnamed", "#sku"),
				"Positional", source.formatted("Positional", "#p0")));
		AdvisorContext.refusal(unnamed)
			.hasMessageContainingAll("Unnamed.buy(String): key = \"#sku\" names the unknown parameter #sku",
					"compile it with -parameters, or write #p0");
		Class<?> positional = unnamed.getClassLoader().loadClass("Positional");
		try (AdvisorContext context = AdvisorContext.of(positional)) {
			positional.getMethod("buy", String.class).invoke(context.get(positional), "a-1");
			assertThat(context.lock().keys()).containsExactly("a-1");
		}
	}

	@Test
	void keyAndValueThatDiffer() {
		AdvisorContext.refusal(KeyAndValueThatDifferStock.class)
			.hasMessageStartingWith(
					"@DistributedLock on " + KeyAndValueThatDifferStock.class.getName() + ".buy(): the attributes")
			.hasMessageContaining("values of [{'a'}] and [{'b'}]")
			.hasMessageEndingWith(" (aliases are names of one attribute: write one of them)")
			.hasCauseInstanceOf(AnnotationConfigurationException.class);
	}

	@Test
	void aliasesOfTheUserThatDiffer() {
		AdvisorContext.refusal(AliasesThatDiffer.class)
			.hasMessageStartingWith("@DistributedLock on " + AliasesThatDiffer.class.getName() + ".buy(): ")
			.hasMessageContaining("the attributes contradict each other");
	}

	record Order(String sku) {
	}

	record OrderId(String value) {
	}

	record Basket(OrderId id) {
	}

	interface Parameters {

		void nothing();

		void mode(LockMode mode);

		void text(String sku);

		void id(OrderId id);

		void map(Map<String, String> order);

		void list(List<OrderId> ids);

		void array(OrderId... ids);

		void basket(Basket basket);

		void texts(List<String> skus);

		void when(Date when);

		void days(List<GregorianCalendar> days);

		void tree(OrderId root);

	}

	static class WordsInTheirPlace {

		@DistributedLock(key = { "#orders.![sku]", "#prices[sku]",
				"#orders.?[#this != null and sku.equals(sku)].![sku.concat(#prices[sku])]" })
		public void buy(List<Order> orders, Map<String, String> prices) {
		}

		@DistributedLock(key = "job:#{#root.methodName}")
		public void rebuild(OrderId root) {
		}

	}

	static class OpenTypes {

		@DistributedLock(key = { "#any", "#list", "#basket.id.value", "#number", "#unit" })
		public void buy(Object any, List<?> list, Basket basket, int number, TimeUnit unit) {
		}

	}

	static class KeyAndValueThatDifferStock {

		@DistributedLock(key = "'a'", value = "'b'")
		public void buy() {
		}

	}

	@DistributedLock
	@Retention(RetentionPolicy.RUNTIME)
	@interface StockLock {

		@AliasFor("article")
		String sku() default "";

		@AliasFor("sku")
		String article() default "";

	}

	static class AliasesThatDiffer {

		@StockLock(sku = "a", article = "b")
		public void buy() {
		}

	}

}
