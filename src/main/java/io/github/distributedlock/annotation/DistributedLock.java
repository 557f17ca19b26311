package io.github.distributedlock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.ReleaseOn;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a lock: in all JVMs that share the store, one call runs at a time.
 *
 * <pre class="code">
 * &#64;DistributedLock(key = "stock:#{#order.sku}", waitTime = "2s")
 * public Receipt buy(Order order) { … }
 * </pre>
 *
 * <b>Where.</b> The annotation may stand wherever {@code @Transactional} may:
 * <ul>
 * <li>on a method of a Spring bean, or on a method of a superclass or an interface that
 * the bean's method overrides or implements;</li>
 * <li>on a class or an interface, for each method that is declared there or in a subtype
 * and is neither private nor static. Methods that the type inherits are not covered, nor
 * are {@code equals}, {@code hashCode} and {@code toString};</li>
 * <li>on an annotation of your own, whose attributes may be aliases of these.</li>
 * </ul>
 * A method's annotation wins over its class's, the implementation's over the interface's.
 * If the annotations of two interfaces contradict each other, annotate the method itself.
 * A method has one lock annotation: for several locks write several keys.
 * <p>
 * <b>Note.</b> The bean's proxy takes the lock. A call from inside the same object
 * ({@code this.buy(order)}) does not pass through the proxy and takes no lock. An
 * annotation that cannot work is refused when the bean is created, with a
 * {@link io.github.distributedlock.LockDefinitionException} that gives the reason:
 * <ul>
 * <li>The method is private, static or final.</li>
 * <li>Spring calls the method on the bean itself: {@code @PostConstruct},
 * {@code afterPropertiesSet}, an init or destroy method, {@code stop()} of a
 * {@code SmartLifecycle}. An annotation on the class is not refused for such a
 * method.</li>
 * <li>Spring puts no proxy around the bean, or the annotation of a class covers no
 * method.</li>
 * <li>An expression, a duration or the fallback is wrong.</li>
 * <li>The result outlives the method in a way that the lock cannot follow: a
 * {@code Future} other than {@code CompletionStage}, {@code Callable}, {@code Supplier},
 * {@code Stream}, {@code Iterator}, the asynchronous results of Spring MVC; reactive
 * results and Kotlin {@code suspend} functions, if the libraries that they need are
 * missing. Inside of a {@code ResponseEntity}, {@code Optional}, collection, map, array
 * or stage, all of these and {@code CompletionStage} are refused.</li>
 * </ul>
 * Where the method declares {@code Object}, only the returned object shows its type. A
 * result that outlives the method then fails the call with an
 * {@link IllegalStateException}; a stage is followed.
 * <p>
 * <b>Results.</b> The lock is held until the method has returned or thrown. A method that
 * returns a {@link java.util.concurrent.CompletionStage} holds the lock until that stage
 * completes, and the caller sees the completion after the release; the calling thread is
 * no longer inside the lock once the method has returned. Cancelling the returned future
 * cancels the method's own, which releases the lock, also if work goes on that the future
 * stood for. A reactive result, and a Kotlin {@code suspend} function, takes the lock at
 * each subscription, and holds the lock until the subscription completes, fails or is
 * cancelled.
 * <p>
 * <b>Transactions.</b> The lock is taken before, and released after, the transaction of a
 * {@code @Transactional} on the same method. If the caller's transaction is already
 * running, the lock is kept until that transaction has completed, because nobody else may
 * see the data before the commit; a warning says so once per method.
 * <p>
 * <b>Durations</b> are strings: {@code "2s"}, {@code "1m30s"}, {@code "PT2S"},
 * {@code "500"} (milliseconds), or a placeholder such as {@code "${orders.wait}"} for one
 * of these. An empty string means not set. A duration is from 1 millisecond to 365 days,
 * unless said otherwise.
 *
 * @since 1.0
 * @see io.github.distributedlock.DistributedLock
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface DistributedLock {

	/**
	 * Alias for {@link #key()}.
	 * @return the keys
	 */
	@AliasFor("key")
	String[] value() default {};

	/**
	 * The keys to lock: one or more, all or none of which are acquired. Default: the
	 * fully qualified name of the bean's class and the method's name, which overloaded
	 * methods share.
	 * <p>
	 * A string that contains <code>#{</code> is a template,
	 * <code>"stock:#{#order.sku}"</code>; any other is a SpEL expression,
	 * {@code "'stock:' + #order.sku"}, so a fixed key needs quotes:
	 * {@code "'nightly-report'"}. <code>${…}</code>, in text or in quotes, is replaced by
	 * the property of that name. The property's value is text and never an expression.
	 * <p>
	 * Expressions see parameters by name ({@code #order}; the names of the annotated
	 * declaration and of the implementation) and by position ({@code #p0} or
	 * {@code #a0}), {@code #root.method}, {@code #root.methodName}, {@code #root.target},
	 * {@code #root.targetClass}, {@code #root.args}, and beans ({@code @bean}).
	 * <p>
	 * A value must be text, a number, a boolean, an enum constant, a {@code UUID} or
	 * another plain value of the JDK that reads the same in every JVM. A collection or
	 * array of such values gives one key for each element, in a template too. A value
	 * that is {@code null}, blank, empty or of another type fails the call with an
	 * {@link IllegalArgumentException} before anything is locked. A {@code +} with text
	 * is the same as a template. A {@code +} that could make text of {@code null} is
	 * refused at start-up. Arguments of method calls inside an expression are not checked
	 * for {@code null}.
	 * @return the keys
	 */
	@AliasFor("value")
	String[] key() default {};

	/**
	 * The longest wait for the lock; {@code "0"} is one attempt. Default:
	 * {@code distributed-lock.wait-time} (5 s), but no wait with {@link IfBusy#SKIP}.
	 * After the wait, the call throws
	 * {@link io.github.distributedlock.LockNotAcquiredException}, or does what
	 * {@link #ifBusy()} or {@link #fallback()} says.
	 * @return the time
	 */
	String waitTime() default "";

	/**
	 * A fixed lease: the lock expires so long after the acquisition, even if the method
	 * still runs. At least 100 ms. Default: none, the lease is renewed until the method
	 * ends.
	 * @return the time
	 */
	String leaseTime() default "";

	/**
	 * The longest time for which the lease is renewed; then the lock expires, even if the
	 * method still runs. At least 100 ms. Together with {@link #leaseTime()} nothing is
	 * renewed: the lease is the shorter of the two, and the method cannot
	 * {@linkplain io.github.distributedlock.LockHandle#extend extend} the lease beyond
	 * {@code maxHoldTime}. Default: no limit.
	 * @return the time
	 */
	String maxHoldTime() default "";

	/**
	 * The shortest time for which the lock keeps others out, even if the method ends
	 * earlier. For scheduled jobs choose more than the difference between the machines'
	 * clocks, and more than the delay with which a run may begin. Not longer than
	 * {@link #leaseTime()} or {@link #maxHoldTime()}. Default: none.
	 * @return the time
	 */
	String minHoldTime() default "";

	/**
	 * The time for which the lock stays with this JVM when the method has ended and no
	 * local call waits: the next local call takes the lock without asking the store.
	 * Another JVM that asks gets the lock as soon as nobody has used it for a
	 * millisecond, and at the latest with the first end of a call after the lock has been
	 * here for this long. For a lock that one JVM mostly uses alone. From 0 to 1 minute;
	 * nothing stays where no other JVM could ask. Only for a single key that is locked
	 * exclusively, renewed without limit and released at the end. Default:
	 * {@code distributed-lock.keep-time} (0: the lock does not stay).
	 * @return the time
	 */
	String keepTime() default "";

	/**
	 * The mode, which decides who may hold the lock together: {@link LockMode#SHARED}
	 * calls run at the same time, but never beside an exclusive call for the same key.
	 * Shared locks need a store that offers them, as Redis with Lua does; with other
	 * stores the application does not start. An exclusive method fails if it is called
	 * from inside a method that holds the same lock shared.
	 * @return the mode
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * The number of calls that may hold the lock together, in all JVMs: from 1 to 1,000.
	 * A call gets the lock if at most so many calls, itself included, then hold the lock.
	 * Each call goes by its own number, so that a rolling restart can change the number.
	 * Permits limit how many calls run at the same time, not how many begin per second.
	 * More than one permit needs a store that offers permits, as Redis with Lua does;
	 * with other stores the application does not start. Not for {@link LockMode#SHARED},
	 * {@link #fair()} or {@link #fenced()}. Default: 1, an exclusive lock.
	 * @return the number
	 */
	int permits() default 1;

	/**
	 * The number of {@link #permits()} as a placeholder, such as
	 * {@code "${partner.calls}"}. Setting both attributes is refused.
	 * @return the number as text
	 */
	String permitsString() default "";

	/**
	 * Serves calls strictly in the order of their arrival, across all JVMs and threads.
	 * The order holds among calls that are all fair. A fair lock costs more round trips
	 * than an unfair one, which only ensures that no JVM waits for ever. A fair lock
	 * needs a store that offers the order, as Redis with Lua does; with other stores the
	 * application does not start. Not for {@link LockMode#SHARED}. Default:
	 * {@code false}.
	 * @return whether calls are served in order
	 */
	boolean fair() default false;

	/**
	 * Asks for a {@linkplain io.github.distributedlock.LockHandle#fencingToken() fencing
	 * token}, with which the resource behind the lock can refuse the late write of a
	 * holder that has lost the lock. The method finds the token in
	 * {@link io.github.distributedlock.LockHandle#current()}. Only for a single key.
	 * Default: {@code false}.
	 * @return whether the lock has a token
	 */
	boolean fenced() default false;

	/**
	 * The behaviour of a call when the lock is busy. {@link IfBusy#SKIP} is refused for a
	 * method whose result is primitive or always has a value, as a {@code Single} or a
	 * Kotlin type that is never null.
	 * @return throw, or skip the call
	 */
	IfBusy ifBusy() default IfBusy.THROW;

	/**
	 * The name of a method to call instead when the lock could not be acquired. The
	 * fallback is a method of the same class, a superclass or an interface, also a
	 * private one, with the same parameters and a result that fits, and without a lock
	 * annotation of its own, since the fallback is called on the bean, and not on the
	 * proxy. One more, last parameter may take the exception that led to the call; its
	 * type decides which failures the fallback handles:
	 * <ul>
	 * <li>{@link io.github.distributedlock.LockNotAcquiredException}: the lock is busy
	 * (also without that parameter);</li>
	 * <li>{@link io.github.distributedlock.LockBackendException}: the store failed;</li>
	 * <li>{@link io.github.distributedlock.LockException}: either.</li>
	 * </ul>
	 * An exception of the fallback reaches the caller unchanged. Not with
	 * {@link IfBusy#SKIP}. Default: none.
	 * @return the method's name
	 */
	String fallback() default "";

	/**
	 * The reaction to a lock that is known to be lost while the method runs: report the
	 * loss, interrupt the method, or let the call and its transaction fail. A loss never
	 * calls the {@link #fallback()}.
	 * @return the reaction
	 */
	OnLost onLost() default OnLost.REPORT;

	/**
	 * The end of the lock: released when the method ends, or left to run out.
	 * @return when the lock becomes free
	 */
	ReleaseOn releaseOn() default ReleaseOn.CLOSE;

	/**
	 * The name of the {@link io.github.distributedlock.DistributedLock} bean that keeps
	 * this lock, for an application that has several stores. The name may contain
	 * <code>${…}</code>. The library's own beans are {@code redisLock}, {@code jdbcLock}
	 * and {@code memoryLock}. Locks of different stores know nothing of each other.
	 * Default: the only or primary bean, which keeps its locks where
	 * {@code distributed-lock.backend} says.
	 * @return the name of the bean
	 */
	String store() default "";

	/**
	 * The name of this lock in events and meters, which may contain <code>${…}</code>.
	 * Default: {@code SimpleClassName.method}.
	 * @return the name
	 */
	String name() default "";

}
