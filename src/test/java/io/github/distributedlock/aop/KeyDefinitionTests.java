package io.github.distributedlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys that can only fail are refused at start-up, with the remedy.
 */
class KeyDefinitionTests {

	@Test
	void bareWord() {
		AdvisorContext.refusal(BareWordJobs.class)
			.hasMessageContaining(
					"Jobs.run(): key = \"nightly-report\" reads the word nightly as a property of nothing")
			.hasMessageContaining("write \"'nightly-report'\" in quotes");
	}

	@Test
	void classWithoutPackage() {
		AdvisorContext.refusal(ClassWithoutPackage.class)
			.hasMessageContaining("reads the word LockMode as a property of nothing")
			.hasMessageContaining("T(….LockMode), with its package, for a class");
	}

	@Test
	void bareWordsThatDoNotParse() {
		AdvisorContext.refusal(BareWordsThatDoNotParseJobs.class)
			.hasMessageContaining("key = \"nightly report\" is not a valid SpEL expression")
			.hasMessageContaining("write \"'nightly report'\" in quotes")
			.cause()
			.isInstanceOf(org.springframework.expression.ParseException.class);
	}

	@ParameterizedTest
	@ValueSource(classes = { TextAndValue.class, TextMinusValue.class, ValueAndText.class, TextAndPath.class })
	void textAndValueWithoutTemplate(Class<?> type) {
		AdvisorContext.refusal(type)
			.hasMessageContaining(": key = \"")
			.hasMessageEndingWith("and for text with a value in it \"text:#{#value}\")");
	}

	@Test
	void templateThatIsNotClosed() {
		AdvisorContext.refusal(TemplateThatIsNotClosed.class)
			.hasMessageContaining("key = \"a#{#sku\" is not a valid SpEL template")
			.hasMessageEndingWith(" (close it with })");
	}

	@Test
	void parameterWithoutHash() {
		AdvisorContext.refusal(ParameterWithoutHashStock.class)
			.hasMessageContaining("Stock.buy(String): key = \"stock:#{sku}\" reads the word sku")
			.hasMessageContaining("#sku for the parameter");
	}

	@Test
	void bareWordInsideAnArgumentIsFoundButNotOneOfAnElementOrAMapIndex() {
		try (AdvisorContext context = AdvisorContext.of(WordsInTheirPlace.class)) {
			context.get(WordsInTheirPlace.class).buy(List.of(new Order("a")), Map.of("sku", "b"));
			assertThat(context.lock().keys()).containsExactly("a", "b", "ab");
		}
		AdvisorContext.refusal(WordInAnArgument.class).hasMessageContaining("reads the word suffix");
	}

	@ParameterizedTest
	@ValueSource(classes = { RecordAsKey.class, MapAsKey.class, ListOfRecords.class, ArrayOfRecords.class,
			PropertyThatIsARecord.class, TemplateWithARecord.class })
	void declaredTypeThatHasNoText(Class<?> type) {
		AdvisorContext.refusal(type)
			.hasMessageContaining(type.getSimpleName() + ".buy(")
			.hasMessageContaining(", whose text need not be the same in every JVM: name what identifies it");
	}

	@Test
	void refusalOfADeclaredTypeReadsAsASentence() {
		AdvisorContext.refusal(RecordAsKey.class)
			.hasMessageContaining("buy(OrderId): key = \"#id\" has the value #id, which is a " + OrderId.class.getName()
					+ ", whose text");
	}

	@ParameterizedTest
	@ValueSource(classes = { UnknownProperty.class, UnknownPropertyOfAProperty.class })
	void propertyThatARecordDoesNotHave(Class<?> type) {
		AdvisorContext.refusal(type)
			.hasMessageContaining(" reads valeu of " + OrderId.class.getName() + ", which has no such property")
			.hasMessageContaining("it has value");
	}

	@Test
	void declaredTypeThatMayHaveText() {
		try (AdvisorContext context = AdvisorContext.of(OpenTypes.class)) {
			context.get(OpenTypes.class).buy("a", List.of("b"), new Basket(new OrderId("c")), 1, TimeUnit.DAYS);
			assertThat(context.lock().keys()).containsExactly("a", "b", "c", "1", "DAYS");
		}
	}

	@Test
	void methodOfNothing() {
		AdvisorContext.refusal(MethodOfNothingStock.class).hasMessageContaining("write #root.target.tenant()");
	}

	@Test
	void unknownParameter() {
		AdvisorContext.refusal(UnknownParameterStock.class)
			.hasMessageContaining(
					"Stock.buy(List): key = \"#skus.![#this.concat(#suffix)]\" names the unknown parameter #suffix")
			.hasMessageContaining("write one of #skus, #p0");
	}

	@Test
	void unknownPosition() {
		AdvisorContext.refusal(UnknownPositionStock.class).hasMessageContaining("names the unknown parameter #p1");
	}

	@Test
	void unknownFunction() {
		AdvisorContext.refusal(UnknownFunctionStock.class)
			.hasMessageContaining("calls the unknown function #hash(#sku)");
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
	void constantThatIsNoKey() {
		AdvisorContext.refusal(ConstantThatIsNoKeyBlank.class).hasMessageContaining("key = \"' '\" is blank");
		AdvisorContext.refusal(ConstantThatIsNoKeyNull.class).hasMessageContaining("key = \"null\" is null");
		AdvisorContext.refusal(ConstantThatIsNoKeyEmpty.class)
			.hasMessageContaining("key = \"\" is blank (write an expression");
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

	static class BareWordJobs {

		@DistributedLock(key = "nightly-report")
		public void run() {
		}

	}

	static class BareWordsThatDoNotParseJobs {

		@DistributedLock("nightly report")
		public void run() {
		}

	}

	static class TextAndValue {

		@DistributedLock(key = "stock:#sku")
		public void buy(String sku) {
		}

	}

	static class TextMinusValue {

		@DistributedLock(key = "stock-#sku")
		public void buy(String sku) {
		}

	}

	static class ValueAndText {

		@DistributedLock(key = "#sku/eu")
		public void buy(String sku) {
		}

	}

	static class TextAndPath {

		@DistributedLock(key = "${region:eu}:#sku.length():#sku")
		public void buy(String sku) {
		}

	}

	static class TemplateThatIsNotClosed {

		@DistributedLock(key = "a#{#sku")
		public void buy(String sku) {
		}

	}

	static class ParameterWithoutHashStock {

		@DistributedLock(key = "stock:#{sku}")
		public void buy(String sku) {
		}

	}

	static class WordsInTheirPlace {

		@DistributedLock(key = { "#orders.![sku]", "#prices[sku]",
				"#orders.?[#this != null and sku.equals(sku)].![sku.concat(#prices[sku])]" })
		public void buy(List<Order> orders, Map<String, String> prices) {
		}

	}

	static class WordInAnArgument {

		@DistributedLock(key = "#sku.concat(suffix)")
		public void buy(String sku) {
		}

	}

	record OrderId(String value) {

	}

	record Basket(OrderId id) {

	}

	static class RecordAsKey {

		@DistributedLock(key = "#id")
		public void buy(OrderId id) {
		}

	}

	static class MapAsKey {

		@DistributedLock(key = "#order")
		public void buy(Map<String, String> order) {
		}

	}

	static class ListOfRecords {

		@DistributedLock(key = "#ids")
		public void buy(List<OrderId> ids) {
		}

	}

	static class ArrayOfRecords {

		@DistributedLock(key = "#ids")
		public void buy(OrderId... ids) {
		}

	}

	static class PropertyThatIsARecord {

		@DistributedLock(key = "#basket.id")
		public void buy(Basket basket) {
		}

	}

	static class TemplateWithARecord {

		@DistributedLock(key = "order:#{#id}")
		public void buy(OrderId id) {
		}

	}

	static class ClassWithoutPackage {

		@DistributedLock(key = "mode:#{#mode == LockMode.SHARED}")
		public void buy(LockMode mode) {
		}

	}

	static class UnknownProperty {

		@DistributedLock(key = "#id.valeu")
		public void buy(OrderId id) {
		}

	}

	static class UnknownPropertyOfAProperty {

		@DistributedLock(key = "order:#{#basket.id.valeu}")
		public void buy(Basket basket) {
		}

	}

	static class OpenTypes {

		@DistributedLock(key = { "#any", "#list", "#basket.id.value", "#number", "#unit" })
		public void buy(Object any, List<?> list, Basket basket, int number, TimeUnit unit) {
		}

	}

	static class MethodOfNothingStock {

		@DistributedLock(key = "tenant()")
		public void buy() {
		}

	}

	static class UnknownParameterStock {

		@DistributedLock(key = { "'a'", "#skus.![#this.concat(#suffix)]" })
		public void buy(List<String> skus) {
		}

	}

	static class UnknownPositionStock {

		@DistributedLock(key = "#p1")
		public void buy(String sku) {
		}

	}

	static class UnknownFunctionStock {

		@DistributedLock(key = "#hash(#sku)")
		public void buy(String sku) {
		}

	}

	static class ConstantThatIsNoKeyBlank {

		@DistributedLock(key = "' '")
		public void run() {
		}

	}

	static class ConstantThatIsNoKeyNull {

		@DistributedLock(key = "null")
		public void run() {
		}

	}

	static class ConstantThatIsNoKeyEmpty {

		@DistributedLock(key = "")
		public void run() {
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
