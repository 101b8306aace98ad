package io.kvorum.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Tests that show with processes, in minutes of CPU, what faster tests show with the
 * parts. {@code mvn verify} leaves them out, {@code mvn -Pthorough verify} runs them.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Tag("long")
public @interface LongTest {

}
