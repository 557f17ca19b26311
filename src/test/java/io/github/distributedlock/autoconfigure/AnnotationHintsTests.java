package io.github.distributedlock.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the hints that annotations add to an application that is processed ahead of
 * time.
 */
class AnnotationHintsTests {

	@Test
	void keepAnInheritedMethodAndItsFallback() {
		RuntimeHints hints = hints(Orders.class);
		assertThat(method(Desk.class, "place")).accepts(hints);
		assertThat(method(Desk.class, "refuse")).accepts(hints);
	}

	@Test
	void keepTheDeclarationThatIsAnnotated() {
		RuntimeHints hints = hints(Clerk.class);
		assertThat(method(Counter.class, "serve")).accepts(hints);
		assertThat(method(Clerk.class, "serve")).accepts(hints);
	}

	@Test
	void keepWhatKeysReadFromParameters() {
		RuntimeHints hints = hints(Orders.class);
		assertThat(method(Order.class, "getCustomer")).accepts(hints);
		assertThat(method(Customer.class, "id")).accepts(hints);
		assertThat(method(Line.class, "getArticle")).accepts(hints);
		assertThat(method(Shelf.class, "getPlace")).accepts(hints);
	}

	@Test
	void keepWhatOperandsAndArgumentsReadFromElements() {
		RuntimeHints hints = hints(Depot.class);
		assertThat(method(Parcel.class, "weight")).accepts(hints);
		assertThat(method(Size.class, "height")).accepts(hints);
		assertThat(method(Mark.class, "text")).accepts(hints);
		assertThat(method(Bay.class, "row")).accepts(hints);
		assertThat(method(Note.class, "title")).accepts(hints);
	}

	@Test
	void needNothingElse() {
		assertThat(method(Customer.class, "id")).rejects(hints(Clock.class));
	}

	@Test
	void refuseAnAnnotationThatCannotWork() {
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> hints(Refused.class))
			.withMessageContaining("#article");
	}

	private static RuntimeHints hints(Class<?>... beans) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(DistributedLockAutoConfiguration.class);
			for (Class<?> bean : beans) {
				context.registerBean(bean.getSimpleName().toLowerCase(Locale.ROOT), bean);
			}
			DefaultGenerationContext generation = new DefaultGenerationContext(
					new ClassNameGenerator(ClassName.get("com.example", "Application")), new InMemoryGeneratedFiles());
			new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
			return generation.getRuntimeHints();
		}
	}

	@SuppressWarnings("removal") // The replacement exists since Spring Framework 7.
	private static Predicate<RuntimeHints> method(Class<?> type, String name) {
		Method method = ReflectionUtils.findMethod(type, name, (Class<?>[]) null);
		return RuntimeHintsPredicates.reflection().onMethod(method).invoke();
	}

	/**
	 * The superclass of a bean.
	 */
	static class Desk {

		@DistributedLock(key = "#{#order.customer.id}:#{#order.lines.![article]}:#{#shelves['a'].place}",
				fallback = "refuse")
		void place(Order order, Map<String, Shelf> shelves) {
		}

		void refuse(Order order, Map<String, Shelf> shelves) {
		}

	}

	/**
	 * A bean that inherits an annotated method.
	 */
	static class Orders extends Desk {

	}

	/**
	 * A bean with keys of several operands.
	 */
	static class Depot {

		@DistributedLock(key = { "#{#parcels.![weight * size.height]}", "#{#parcels.![stamped(mark.text)]}",
				"#{#bays.![key.row]}", "#{(#one ?: #other).title}" })
		void send(List<Parcel> parcels, Map<Bay, String> bays, Note one, Note other) {
		}

	}

	/**
	 * The interface that carries the annotation of a bean.
	 */
	interface Counter {

		@DistributedLock(key = "'counter'")
		void serve();

	}

	/**
	 * A bean whose annotation is elsewhere.
	 */
	static class Clerk implements Counter {

		@Override
		public void serve() {
		}

	}

	/**
	 * A bean with an annotation that cannot work.
	 */
	static class Refused {

		@DistributedLock(key = "#article")
		void sell(String sku) {
		}

	}

	/**
	 * A bean without annotations.
	 */
	static class Clock {

		public String today() {
			return "today";
		}

	}

	/**
	 * A parameter.
	 */
	public interface Order {

		Customer getCustomer();

		List<Line> getLines();

	}

	/**
	 * A property of a parameter.
	 *
	 * @param id a property of the parameter
	 */
	public record Customer(String id) {
	}

	/**
	 * An element of a list.
	 */
	public interface Line {

		String getArticle();

	}

	/**
	 * A value of a map.
	 */
	public interface Shelf {

		String getPlace();

	}

	/**
	 * An element that is read by operands and arguments.
	 *
	 * @param weight an operand
	 * @param size has one
	 * @param mark has an argument
	 */
	public record Parcel(int weight, Size size, Mark mark) {

		public String stamped(String text) {
			return text;
		}

	}

	/**
	 * A property of an element.
	 *
	 * @param height a property of the element
	 */
	public record Size(int height) {
	}

	/**
	 * A property of an element.
	 *
	 * @param text a property of the element
	 */
	public record Mark(String text) {
	}

	/**
	 * A key of a map.
	 *
	 * @param row a property of the key
	 */
	public record Bay(String row) {
	}

	/**
	 * One of two parameters.
	 *
	 * @param title a property of the parameter
	 */
	public record Note(String title) {
	}

}
