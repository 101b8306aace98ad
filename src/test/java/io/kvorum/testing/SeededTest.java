package io.kvorum.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A random test: run once for each of a few seeds, which is its first parameter and part
 * of its name, so that a failure tells it. {@code -Dkvorum.test.seed=<number>} runs that
 * one.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "seed {0}")
@MethodSource("io.kvorum.testing.Seeds#all")
public @interface SeededTest {

}
