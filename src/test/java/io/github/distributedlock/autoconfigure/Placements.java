package io.github.distributedlock.autoconfigure;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.AliasFor;
import org.springframework.data.repository.CrudRepository;
import org.springframework.data.repository.Repository;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.service.annotation.PostExchange;

/**
 * The places where an annotation of a method may be. At each of them
 * {@link Transactional @Transactional} and {@link DistributedLock @DistributedLock} stand
 * side by side. A bean has a method {@code handle}, some also {@code run}, which a
 * scheduler can call.
 */
final class Placements {

	private static final Map<Class<?>, Seen> seen = new ConcurrentHashMap<>();

	private Placements() {
	}

	/**
	 * Returns the classes of the beans.
	 */
	static List<Class<?>> all() {
		return Stream.of(Placements.class.getDeclaredClasses())
			.filter((type) -> type.isAnnotationPresent(Place.class))
			.sorted((left, right) -> left.getName().compareTo(right.getName()))
			.toList();
	}

	/**
	 * Records what surrounds the body of a method.
	 * @param type the class of the bean
	 */
	static void body(Class<?> type) {
		seen.put(type, new Seen(TransactionSynchronizationManager.isActualTransactionActive(),
				LockHandle.current().isPresent()));
	}

	/**
	 * Returns the records, and forgets them.
	 */
	static Map<Class<?>, Seen> takeSeen() {
		Map<Class<?>, Seen> taken = Map.copyOf(seen);
		seen.clear();
		return taken;
	}

	record Seen(boolean transaction, boolean lock) {
	}

	record Pay(String id) {
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Place {

	}

	@Place
	static class OnMethod {

		@EventListener
		@Transactional
		@DistributedLock
		public void handle(Pay pay) {
			body(getClass());
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		@Transactional
		@DistributedLock
		public void run() {
			body(getClass());
		}

	}

	@Place
	@Transactional
	@DistributedLock
	static class OnClass {

		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		public void run() {
			body(getClass());
		}

	}

	/**
	 * A type that is not public, as many listeners and jobs are not.
	 */
	@Place
	static class OnGuardedMethods {

		@EventListener
		@Transactional
		@DistributedLock
		protected void handle(Pay pay) {
			body(getClass());
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		@Transactional
		@DistributedLock
		void run() {
			body(getClass());
		}

	}

	@Place
	@Transactional
	@DistributedLock
	static class OnClassOfGuardedMethods {

		@EventListener
		protected void handle(Pay pay) {
			body(getClass());
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		void run() {
			body(getClass());
		}

	}

	/**
	 * The form of {@code QuartzJobBean}, whose public method no proxy can intercept.
	 */
	abstract static class JobTemplate {

		public final void handle(Pay pay) {
			execute(pay);
		}

		protected abstract void execute(Pay pay);

	}

	@Place
	@Transactional
	@DistributedLock
	static class OnClassBelowTemplate extends JobTemplate {

		@Override
		protected void execute(Pay pay) {
			body(getClass());
		}

	}

	@Place
	static class OnMethodBelowTemplate extends JobTemplate {

		@Override
		@Transactional
		@DistributedLock
		protected void execute(Pay pay) {
			body(getClass());
		}

	}

	interface Direct {

		@PostExchange
		@Transactional
		@DistributedLock
		void handle(Pay pay);

		@PostExchange
		@Transactional
		@DistributedLock
		void run();

	}

	@Place
	static class OnInterfaceMethod implements Direct {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		public void run() {
			body(getClass());
		}

	}

	@Transactional
	@DistributedLock
	interface Marked {

		@PostExchange
		void handle(Pay pay);

	}

	@Place
	static class OnInterface implements Marked {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface BelowDirect extends Direct {

	}

	@Place
	static class OnMethodOfInterfaceAbove implements BelowDirect {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		public void run() {
			body(getClass());
		}

	}

	interface BelowBelowDirect extends BelowDirect {

	}

	@Place
	static class OnMethodOfInterfaceFarAbove implements BelowBelowDirect {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		public void run() {
			body(getClass());
		}

	}

	interface BelowMarked extends Marked {

	}

	@Place
	static class OnInterfaceAbove implements BelowMarked {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface AboveMarking {

		@PostExchange
		void handle(Pay pay);

	}

	@Transactional
	@DistributedLock
	interface Marking extends AboveMarking {

	}

	@Place
	static class OnInterfaceBelowTheMethod implements Marking {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface Redeclared extends Direct {

		@Override
		@PostExchange
		void handle(Pay pay);

	}

	@Place
	static class OnMethodRedeclaredBelow implements Redeclared {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		public void run() {
			body(getClass());
		}

	}

	interface Handler<C> {

		@PostExchange
		@Transactional
		@DistributedLock
		void handle(C command);

	}

	@Place
	static class OnGenericInterface implements Handler<Pay> {

		@Override
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface PayHandler extends Handler<Pay> {

	}

	@Place
	static class OnGenericInterfaceAbove implements PayHandler {

		@Override
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface RedeclaringHandler extends Handler<Pay> {

		@Override
		@PostExchange
		void handle(Pay pay);

	}

	@Place
	static class OnGenericInterfaceRedeclaredBelow implements RedeclaringHandler {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface PlainHandler<C> {

		@PostExchange
		void handle(C command);

	}

	interface LockedHandler extends PlainHandler<Pay> {

		@Override
		@PostExchange
		@Transactional
		@DistributedLock
		void handle(Pay pay);

	}

	@Place
	static class OnBridgedMethodOfInterface implements LockedHandler {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Place
	static class OnBridgedMethod implements PlainHandler<Pay> {

		@Override
		@Transactional
		@DistributedLock
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface MiddleHandler<A, B> extends Handler<B> {

	}

	@Place
	static class OnGenericInterfaceWithOtherParameters implements MiddleHandler<String, Pay> {

		@Override
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface GenericMethod {

		@PostExchange
		@Transactional
		@DistributedLock
		<T extends Pay> List<T> handle(T pay);

	}

	interface BelowGenericMethod extends GenericMethod {

	}

	@Place
	static class OnGenericMethodAbove implements BelowGenericMethod {

		@Override
		public <T extends Pay> List<T> handle(T pay) {
			body(getClass());
			return List.of();
		}

	}

	interface Answering {

		@PostExchange
		@Transactional
		@DistributedLock
		Object handle(Pay pay);

	}

	interface NarrowAnswering extends Answering {

		@Override
		@PostExchange
		CharSequence handle(Pay pay);

	}

	@Place
	static class OnCovariantMethodAbove implements NarrowAnswering {

		@Override
		public String handle(Pay pay) {
			body(getClass());
			return "";
		}

	}

	public interface WithDefault {

		@Transactional
		@DistributedLock
		default void handle(Pay pay) {
			body(getClass());
		}

	}

	/**
	 * An interface like that of an HTTP client that makes several requests under one
	 * lock.
	 */
	public interface BesideDefault extends WithDefault {

		@PostExchange
		@Transactional
		@DistributedLock
		void run();

	}

	@Place
	static class OnDefaultMethodBesideAnother implements BesideDefault {

		@Override
		public void run() {
			body(getClass());
		}

	}

	interface BelowDefault extends WithDefault {

	}

	@Place
	static class OnDefaultMethodAbove implements BelowDefault {

	}

	@Transactional
	@DistributedLock
	interface MarkedWithDefault {

		default void handle(Pay pay) {
			body(getClass());
		}

	}

	interface BelowMarkedWithDefault extends MarkedWithDefault {

	}

	@Place
	static class OnInterfaceAboveOfDefaultMethod implements BelowMarkedWithDefault {

	}

	abstract static class AbstractMethod {

		@Transactional
		@DistributedLock
		public abstract void handle(Pay pay);

	}

	@Place
	static class OnAbstractMethod extends AbstractMethod {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	abstract static class Between implements BelowDirect {

	}

	@Place
	static class OnInterfaceAboveAbstractClass extends Between {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		public void run() {
			body(getClass());
		}

	}

	abstract static class GenericBetween<C> implements MiddleHandler<String, C> {

		@Override
		public void handle(C command) {
			body(getClass());
		}

	}

	@Place
	static class OnInterfaceAboveGenericBody extends GenericBetween<Pay> {

	}

	abstract static class GenericBase<C> {

		@Transactional
		@DistributedLock
		public void handle(C command) {
			body(getClass());
		}

	}

	@Place
	static class OnGenericSuperclass extends GenericBase<Pay> {

	}

	@Place
	static class OnGenericSuperclassOverridden extends GenericBase<Pay> implements PlainHandler<Pay> {

		@Override
		public void handle(Pay pay) {
			super.handle(pay);
		}

	}

	@Transactional
	@DistributedLock
	abstract static class MarkedBase {

		public abstract void handle(Pay pay);

	}

	@Place
	static class OnSuperclass extends MarkedBase {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = 3_600_000)
		public void run() {
			body(getClass());
		}

	}

	static class Body {

		public void handle(Pay pay) {
			body(getClass());
		}

	}

	static class Bodies extends Body {

		public void run() {
			body(getClass());
		}

	}

	@Place
	static class OnInterfaceBesideTheBody extends Bodies implements BelowDirect {

	}

	@Place
	static class OnGenericInterfaceBesideTheBody extends Body implements PayHandler {

	}

	@Place
	static class OnMarkedInterfaceBesideTheBody extends Body implements BelowMarked {

	}

	/**
	 * A class with bridges for methods that only a public subclass makes visible outside.
	 */
	static class Hidden {

		@Transactional
		@DistributedLock
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Place
	public static class OnVisibilityBridge extends Hidden {

	}

	interface Unmarked {

		@PostExchange
		void handle(Pay pay);

	}

	@Place
	static class OnSecondInterface implements Unmarked, BelowDirect {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		public void run() {
			body(getClass());
		}

	}

	interface OnlyMarking extends BelowMarking {

	}

	@Transactional
	@DistributedLock
	interface BelowMarking {

	}

	@Place
	static class OnInterfaceWithoutMethods implements OnlyMarking, Unmarked {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Transactional
	@DistributedLock
	@Retention(RetentionPolicy.RUNTIME)
	@interface Both {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String[] lock() default {};

	}

	@Place
	static class ComposedOnMethod {

		@EventListener
		@Both(lock = "'composed'")
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Place
	@Both
	static class ComposedOnClass {

		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	interface ComposedHandler<C> {

		@PostExchange
		@Both(lock = "'composed'")
		void handle(C command);

	}

	interface BelowComposedHandler extends ComposedHandler<Pay> {

	}

	@Place
	static class ComposedOnInterfaceAbove implements BelowComposedHandler {

		@Override
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Both
	interface ComposedMarked {

		@PostExchange
		void handle(Pay pay);

	}

	interface BelowComposedMarked extends ComposedMarked {

	}

	@Place
	static class ComposedMarkedInterfaceAbove implements BelowComposedMarked {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Place
	static class OnFinalMethod implements Unmarked {

		@Override
		@Transactional
		@DistributedLock
		public final void handle(Pay pay) {
			body(getClass());
		}

	}

	@Place
	static final class OnFinalClass implements Unmarked {

		@Override
		@Transactional
		@DistributedLock
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	@Place
	record OnRecord(String name) implements BelowDirect {

		OnRecord() {
			this("record");
		}

		@Override
		public void handle(Pay pay) {
			body(getClass());
		}

		@Override
		public void run() {
			body(getClass());
		}

	}

	interface First {

		@PostExchange
		@Transactional
		@DistributedLock(key = "'first'")
		void handle(Pay pay);

	}

	interface Second {

		@PostExchange
		@Transactional
		@DistributedLock(key = "'second'")
		void handle(Pay pay);

	}

	/**
	 * A class of which Spring would ignore one annotation.
	 */
	@Place
	static class OnTwoInterfaces implements First, Second {

		@Override
		@EventListener
		public void handle(Pay pay) {
			body(getClass());
		}

	}

	/**
	 * Objects of classes that are made when the program runs.
	 */
	static Map<String, Supplier<Object>> lambdas() {
		return Map.of("handler", () -> (Handler<Pay>) (pay) -> body(Object.class), "below handler",
				() -> (PayHandler) (pay) -> body(Object.class), "redeclaring handler",
				() -> (RedeclaringHandler) (pay) -> body(Object.class), "bridged",
				() -> (LockedHandler) (pay) -> body(Object.class), "marked",
				() -> (BelowMarked) (pay) -> body(Object.class), "composed",
				() -> (BelowComposedHandler) (pay) -> body(Object.class));
	}

	record Order(String id) {
	}

	interface DirectRepository extends Repository<Order, String>, Direct {

	}

	interface AboveRepository extends Repository<Order, String>, BelowBelowDirect {

	}

	interface MarkedRepository extends Repository<Order, String>, BelowMarked {

	}

	interface GenericRepository extends Repository<Order, String>, PayHandler {

	}

	interface FragmentImplementationRepository extends Repository<Order, String>, PlainHandler<Pay> {

	}

	/**
	 * Repository interfaces, and the class of the fragment that serves {@code handle}.
	 */
	static Map<Class<?>, Class<?>> fragments() {
		return Map.of(DirectRepository.class, OnInterfaceMethod.class, AboveRepository.class,
				OnMethodOfInterfaceFarAbove.class, MarkedRepository.class, OnInterfaceAbove.class,
				GenericRepository.class, OnGenericInterfaceAbove.class, FragmentImplementationRepository.class,
				OnBridgedMethod.class);
	}

	interface LockedCrud<T, K> extends CrudRepository<T, K> {

		@Override
		@Transactional
		@DistributedLock
		Optional<T> findById(K id);

		@Override
		@Transactional
		@DistributedLock
		long count();

	}

	interface CrudAbove extends LockedCrud<Order, String> {

	}

	@Transactional
	@DistributedLock
	interface MarkedCrud extends CrudRepository<Order, String> {

	}

	interface MarkedCrudAbove extends MarkedCrud {

	}

	/**
	 * Repository interfaces without fragments.
	 */
	static List<Class<?>> repositories() {
		return List.of(CrudAbove.class, MarkedCrud.class, MarkedCrudAbove.class);
	}

}
