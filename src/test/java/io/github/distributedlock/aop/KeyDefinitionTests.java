package io.github.distributedlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.expression.ParseException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys that can only fail are refused at start-up, with the remedy.
 */
class KeyDefinitionTests {

	private static final Map<String, Throwable> REFUSALS = new AdvisorContext().refusals(Mistakes.class);

	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					bareWord        | (): key = "nightly-report" reads the word nightly as a property of nothing | write "'nightly-report'" in quotes
					bareWords       | (): key = "nightly report" is not a valid SpEL expression | write "'nightly report'" in quotes
					classNoPackage  | reads the word LockMode as a property of nothing | T(….LockMode), with its package, for a class
					textAndValue    | : key = " | and for text with a value in it "text:#{#value}")
					textMinusValue  | : key = " | and for text with a value in it "text:#{#value}")
					valueAndText    | : key = " | and for text with a value in it "text:#{#value}")
					textAndPath     | : key = " | and for text with a value in it "text:#{#value}")
					openTemplate    | key = "a#{#sku" is not a valid SpEL template | (close it with })
					withoutHash     | (String): key = "stock:#{sku}" reads the word sku | #sku for the parameter
					wordInArgument  | reads the word suffix | #sku.concat(suffix)
					recordAsKey     | (OrderId): key = "#id" has the value #id, which is a | $OrderId, whose text need not be the same in every JVM: name what identifies it
					mapAsKey        | (Map): | , whose text need not be the same in every JVM: name what identifies it
					listOfRecords   | (List): | , whose text need not be the same in every JVM: name what identifies it
					arrayOfRecords  | (OrderId[]): | , whose text need not be the same in every JVM: name what identifies it
					recordProperty  | (Basket): | , whose text need not be the same in every JVM: name what identifies it
					recordTemplate  | (OrderId): | , whose text need not be the same in every JVM: name what identifies it
					unknownProperty | reads valeu of io.github.distributedlock.aop.KeyDefinitionTests$OrderId, which has no such property | it has value
					unknownPath     | reads valeu of io.github.distributedlock.aop.KeyDefinitionTests$OrderId, which has no such property | it has value
					methodOfNothing | key = "tenant()" | write #root.target.tenant()
					unknownName     | (List): key = "#skus.![#this.concat(#suffix)]" names the unknown parameter #suffix | write one of #skus, #p0
					unknownPosition | names the unknown parameter #p1 | #p0
					unknownFunction | calls the unknown function #hash(#sku) | (
					blank           | key = "' '" is blank | (
					nothing         | key = "null" is null | (
					empty           | key = "" is blank | (write an expression
					""")
	void keyThatCannotWork(String method, String problem, String remedy) {
		assertThat(REFUSALS.get(method)).hasMessageStartingWith("@DistributedLock on ")
			.hasMessageContainingAll("$Mistakes." + method + "(", problem, remedy);
	}

	@Test
	void eachOfThemIsRefused() {
		assertThat(REFUSALS).containsOnlyKeys(
				Stream.of(Mistakes.class.getDeclaredMethods()).map(Method::getName).toArray(String[]::new));
		assertThat(REFUSALS.get("bareWords")).hasCauseInstanceOf(ParseException.class);
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
			.hasMessageContaining("Unnamed.buy(String): key = \"#sku\" names the unknown parameter #sku")
			.hasMessageContaining("compile it with -parameters, or write #p0");
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

	static class Mistakes {

		@DistributedLock(key = "nightly-report")
		public void bareWord() {
		}

		@DistributedLock(key = "nightly report")
		public void bareWords() {
		}

		@DistributedLock(key = "mode:#{#mode == LockMode.SHARED}")
		public void classNoPackage(LockMode mode) {
		}

		@DistributedLock(key = "stock:#sku")
		public void textAndValue(String sku) {
		}

		@DistributedLock(key = "stock-#sku")
		public void textMinusValue(String sku) {
		}

		@DistributedLock(key = "#sku/eu")
		public void valueAndText(String sku) {
		}

		@DistributedLock(key = "${region:eu}:#sku.length():#sku")
		public void textAndPath(String sku) {
		}

		@DistributedLock(key = "a#{#sku")
		public void openTemplate(String sku) {
		}

		@DistributedLock(key = "stock:#{sku}")
		public void withoutHash(String sku) {
		}

		@DistributedLock(key = "#sku.concat(suffix)")
		public void wordInArgument(String sku) {
		}

		@DistributedLock(key = "#id")
		public void recordAsKey(OrderId id) {
		}

		@DistributedLock(key = "#order")
		public void mapAsKey(Map<String, String> order) {
		}

		@DistributedLock(key = "#ids")
		public void listOfRecords(List<OrderId> ids) {
		}

		@DistributedLock(key = "#ids")
		public void arrayOfRecords(OrderId... ids) {
		}

		@DistributedLock(key = "#basket.id")
		public void recordProperty(Basket basket) {
		}

		@DistributedLock(key = "order:#{#id}")
		public void recordTemplate(OrderId id) {
		}

		@DistributedLock(key = "#id.valeu")
		public void unknownProperty(OrderId id) {
		}

		@DistributedLock(key = "order:#{#basket.id.valeu}")
		public void unknownPath(Basket basket) {
		}

		@DistributedLock(key = "tenant()")
		public void methodOfNothing() {
		}

		@DistributedLock(key = { "'a'", "#skus.![#this.concat(#suffix)]" })
		public void unknownName(List<String> skus) {
		}

		@DistributedLock(key = "#p1")
		public void unknownPosition(String sku) {
		}

		@DistributedLock(key = "#hash(#sku)")
		public void unknownFunction(String sku) {
		}

		@DistributedLock(key = "' '")
		public void blank() {
		}

		@DistributedLock(key = "null")
		public void nothing() {
		}

		@DistributedLock(key = "")
		public void empty() {
		}

	}

	static class WordsInTheirPlace {

		@DistributedLock(key = { "#orders.![sku]", "#prices[sku]",
				"#orders.?[#this != null and sku.equals(sku)].![sku.concat(#prices[sku])]" })
		public void buy(List<Order> orders, Map<String, String> prices) {
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
