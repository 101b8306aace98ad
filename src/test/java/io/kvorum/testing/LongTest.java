package io.kvorum.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Tests that show with processes, in minutes of CPU, what faster tests show with the
 * parts. {@code .ci/run} runs them, {@code mvn verify} leaves them out unless it is told
 * {@code -Dkvorum.tests.excluded=}.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Tag("long")
public @interface LongTest {

}
