package io.github.distributedlock.autoconfigure;

import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Finds the context of the thread that asks asynchronously.
 *
 * @see io.github.distributedlock.engine.LockEngineBuilder#contextCapture
 */
interface ContextCapture extends Supplier<UnaryOperator<Runnable>> {

}
