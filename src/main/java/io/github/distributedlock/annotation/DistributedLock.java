package io.github.distributedlock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.distributedlock.LockMode;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method while holding a lock: of all JVMs that share the store, one at a time.
 *
 * <pre class="code">
 * &#64;DistributedLock(key = "stock:#{#order.sku}", waitTime = "2s")
 * public Receipt buy(Order order) { … }
 * </pre>
 *
 * <b>Where.</b> Wherever {@code @Transactional} may be: on a method of a Spring bean; on
 * a method that it overrides or implements, of any class or interface above; on a class
 * or an interface, for each method that is declared there or in a subtype, and is neither
 * private nor static (but not for those inherited from above, nor for {@code equals},
 * {@code hashCode} and {@code toString}); on an annotation of your own, whose attributes
 * may be aliases of these. A method's annotation wins over its class's, the
 * implementation's over the interface's. If two interfaces contradict each other, the
 * method has to say itself which annotation counts. One lock annotation per method: for
 * several locks write several keys.
 * <p>
 * <b>Note.</b> The lock is taken by the bean's proxy. A call from inside the same object
 * ({@code this.buy(order)}) does not pass through the proxy and takes no lock. What
 * cannot work is refused when the bean is created, with a
 * {@link io.github.distributedlock.LockDefinitionException} that says why: a private,
 * static or final method, one that Spring calls on the bean itself
 * ({@code @PostConstruct}, {@code afterPropertiesSet}, an init or destroy method) unless
 * it is the class that is annotated, a bean around which Spring puts no proxy, a class of
 * which the annotation covers no method, a wrong expression, duration or fallback, and
 * results that outlive the method in a way that the lock cannot follow: {@code Future}
 * other than {@code CompletionStage}, reactive ones and Kotlin {@code suspend} without
 * the libraries that they need, {@code Callable}, {@code Supplier}, {@code Stream},
 * {@code Iterator}, the asynchronous results of Spring MVC; also inside of a
 * {@code ResponseEntity}, {@code Optional}, collection, map, array or stage, where a
 * {@code CompletionStage} is refused, too. What shows only when it is returned, because
 * the method declares {@code Object}, fails the call with an
 * {@link IllegalStateException}; a stage is followed.
 * <p>
 * <b>Results.</b> The lock is held until the method has returned or thrown. A method that
 * returns a {@link java.util.concurrent.CompletionStage} holds it until that stage
 * completes, and the caller sees the completion after the release; the calling thread is
 * no longer inside the lock once the method has returned. Cancelling the returned future
 * cancels the method's own. A reactive result, and a Kotlin {@code suspend} function,
 * takes the lock at each subscription, and holds it until that completes, fails or is
 * cancelled.
 * <p>
 * <b>Transactions.</b> The lock is taken before, and released after, the transaction of a
 * {@code @Transactional} on the same method. If the caller's transaction is already
 * running, the lock is kept until that transaction has completed, because nobody else may
 * see the data before it is committed; this is logged once per method.
 * <p>
 * <b>Durations</b> are strings: {@code "2s"}, {@code "1m30s"}, {@code "PT2S"},
 * {@code "500"} (milliseconds), or a placeholder such as {@code "${orders.wait}"} for one
 * of these. Empty means not set. From 1 millisecond to 365 days, unless said otherwise.
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
	 * What to lock: one or more keys, all or none of which are acquired. Default: the
	 * fully qualified name of the bean's class and the method's name, which overloaded
	 * methods share.
	 * <p>
	 * A string that contains <code>#{</code> is a template,
	 * <code>"stock:#{#order.sku}"</code>; any other is a SpEL expression,
	 * {@code "'stock:' + #order.sku"}, so a fixed key needs quotes:
	 * {@code "'nightly-report'"}. <code>${…}</code>, in text or in quotes, is replaced by
	 * the property of that name, whose value is text and never an expression.
	 * <p>
	 * Expressions see parameters by name ({@code #order}; the names of the annotated
	 * declaration and of the implementation) and by position ({@code #p0} or
	 * {@code #a0}), {@code #root.method}, {@code #root.methodName}, {@code #root.target},
	 * {@code #root.targetClass}, {@code #root.args}, and beans ({@code @bean}).
	 * <p>
	 * A value must be text, a number, a boolean, an enum constant, a {@code UUID} or
	 * another plain value of the JDK that reads the same in every JVM. A collection or
	 * array of them gives one key for each element, in a template too. A value that is
	 * {@code null}, blank, empty or of another type fails the call with an
	 * {@link IllegalArgumentException} before anything is locked. A {@code +} with text
	 * is the same as a template; one that could make text of {@code null} is refused at
	 * start-up. What methods make of their arguments is not checked.
	 * @return the keys
	 */
	@AliasFor("value")
	String[] key() default {};

	/**
	 * How long to wait for the lock, at most; {@code "0"} is one attempt. Default:
	 * {@code distributed-lock.wait-time} (5 s), but no wait with {@link IfBusy#SKIP}.
	 * Then {@link io.github.distributedlock.LockNotAcquiredException} is thrown, or what
	 * {@link #ifBusy()} or {@link #fallback()} says.
	 * @return the time
	 */
	String waitTime() default "";

	/**
	 * A fixed lease: the lock expires so long after it was acquired, even if the method
	 * still runs. At least 100 ms. Default: none, the lease is renewed until the method
	 * ends.
	 * @return the time
	 */
	String leaseTime() default "";

	/**
	 * The longest time that the lease is renewed for; then the lock expires, even if the
	 * method still runs. At least 100 ms. Together with {@link #leaseTime()} nothing is
	 * renewed: the lease is the shorter of the two, and the method cannot
	 * {@linkplain io.github.distributedlock.LockHandle#extend extend} it beyond this.
	 * Default: no limit.
	 * @return the time
	 */
	String maxHoldTime() default "";

	/**
	 * The shortest time that the lock keeps others out, even if the method ends earlier;
	 * for scheduled jobs choose more than the clocks of the machines differ, and more
	 * than a run may begin late. Not longer than {@link #leaseTime()} or
	 * {@link #maxHoldTime()}. Default: none.
	 * @return the time
	 */
	String minHoldTime() default "";

	/**
	 * For how long the lock stays with this JVM when the method has ended and no local
	 * call waits: the next local call takes it without asking the store. Another JVM that
	 * asks gets it as soon as nobody has used it for a millisecond, and at the latest
	 * with the first end of a call after it has been here for this long. For a lock that
	 * one JVM mostly uses alone. From 0 to 1 minute; nothing stays where the store does
	 * not notify. Only for a single key that is locked exclusively, renewed without limit
	 * and released at the end. Default: {@code distributed-lock.keep-time} (0: it does
	 * not stay).
	 * @return the time
	 */
	String keepTime() default "";

	/**
	 * Which holders may have the lock together: {@link LockMode#SHARED} calls run at the
	 * same time, but never beside an exclusive one for the same key. Needs a store that
	 * can do it, as Redis with Lua can; elsewhere the application does not start. A
	 * method that is exclusive and called from inside one that shares the same lock
	 * fails.
	 * @return the mode
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * How many calls may hold the lock together, in all JVMs: from 1 to 1,000. A call
	 * gets the lock if with it at most so many hold it: its own number counts, so that a
	 * rolling restart can change it. This limits how many calls run at a time, not how
	 * many begin in a time. Needs a store that can do it, as Redis with Lua can;
	 * elsewhere the application does not start. Not for {@link LockMode#SHARED},
	 * {@link #fair()} or {@link #fenced()}. Default: 1, an exclusive lock.
	 * @return the number
	 */
	int permits() default 1;

	/**
	 * The same as {@link #permits()}, as a placeholder such as
	 * {@code "${partner.calls}"}. Takes its place; both together are refused.
	 * @return the number as text
	 */
	String permitsString() default "";

	/**
	 * Whether calls are served strictly in the order of their arrival, across all JVMs
	 * and threads. Costs more round trips than without, where only no JVM waits for ever.
	 * Holds among calls that are all fair. Needs a store that can do it, as Redis with
	 * Lua can; elsewhere the application does not start. Not for {@link LockMode#SHARED}.
	 * @return whether it is fair
	 */
	boolean fair() default false;

	/**
	 * Whether to ask for a
	 * {@linkplain io.github.distributedlock.LockHandle#fencingToken() fencing token},
	 * with which the resource behind the lock can refuse the late write of a holder that
	 * has lost it. The method finds it in
	 * {@link io.github.distributedlock.LockHandle#current()}. Only for a single key.
	 * @return whether there is a token
	 */
	boolean fenced() default false;

	/**
	 * What to do when the lock is busy. {@link IfBusy#SKIP} is refused for a method whose
	 * result is primitive, or always has a value, as a {@code Single} or what Kotlin says
	 * is never null.
	 * @return throw, or skip the call
	 */
	IfBusy ifBusy() default IfBusy.THROW;

	/**
	 * The name of a method to call instead when the lock could not be acquired: of the
	 * same class, a superclass or an interface, also a private one, with the same
	 * parameters and a result that fits. It may have one more, last parameter that says
	 * what it is for and tells why it was called:
	 * {@link io.github.distributedlock.LockNotAcquiredException} the lock is busy (also
	 * without that parameter), {@link io.github.distributedlock.LockBackendException} the
	 * store failed, {@link io.github.distributedlock.LockException} either. What it
	 * throws reaches the caller as it is. Not with {@link IfBusy#SKIP}. Default: none.
	 * @return the method's name
	 */
	String fallback() default "";

	/**
	 * What to do when the lock is known to be lost while the method runs: report it,
	 * interrupt the method, or let the call and its transaction fail. {@link #fallback()}
	 * is not for this.
	 * @return what to do
	 */
	OnLost onLost() default OnLost.REPORT;

	/**
	 * Whether the lock is released when the method ends, or left to run out.
	 * @return when the lock becomes free
	 */
	ReleaseOn releaseOn() default ReleaseOn.RETURN;

	/**
	 * The name of the {@link io.github.distributedlock.DistributedLock} bean that keeps
	 * this lock, for an application that has several stores; it may contain
	 * <code>${…}</code>. Those of the library are {@code redisLock}, {@code jdbcLock} and
	 * {@code memoryLock}. Locks of different stores know nothing of each other. Default:
	 * the only or primary one, which keeps its locks where
	 * {@code distributed-lock.backend} says.
	 * @return the name of the bean
	 */
	String store() default "";

	/**
	 * The name of this lock in events and meters; it may contain <code>${…}</code>.
	 * Default: {@code SimpleClassName.method}.
	 * @return the name
	 */
	String name() default "";

}
