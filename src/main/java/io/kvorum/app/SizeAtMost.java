package io.kvorum.app;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.Payload;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

/** A {@link DataSize} is at most this. */
@Target({ ElementType.FIELD, ElementType.PARAMETER })
@Retention(RetentionPolicy.RUNTIME)
@Constraint(validatedBy = SizeAtMost.Check.class)
@interface SizeAtMost {

	String value();

	String message() default "must be at most {value}";

	Class<?>[] groups() default {};

	Class<? extends Payload>[] payload() default {};

	/** Checks it. */
	final class Check implements ConstraintValidator<SizeAtMost, DataSize> {

		private DataSize bound = DataSize.ofBytes(0);

		@Override
		public void initialize(SizeAtMost constraint) {
			this.bound = DataSize.parse(constraint.value());
		}

		@Override
		public boolean isValid(@Nullable DataSize size, ConstraintValidatorContext context) {
			return size == null || !(size.compareTo(this.bound) > 0);
		}

	}

}
