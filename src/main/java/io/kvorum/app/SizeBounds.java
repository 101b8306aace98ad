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

/** Inclusive bounds of a {@link DataSize}. */
@Target({ ElementType.FIELD, ElementType.PARAMETER })
@Retention(RetentionPolicy.RUNTIME)
@Constraint(validatedBy = SizeBounds.Check.class)
@interface SizeBounds {

	String min();

	String max() default Long.MAX_VALUE + "B";

	/** Replaced by the message of the bound that is violated. */
	String message() default "must be from {min} to {max}";

	Class<?>[] groups() default {};

	Class<? extends Payload>[] payload() default {};

	/** Reports the violated bound alone. */
	final class Check implements ConstraintValidator<SizeBounds, DataSize> {

		private DataSize min = DataSize.ofBytes(0);

		private DataSize max = DataSize.ofBytes(0);

		@Override
		public void initialize(SizeBounds bounds) {
			this.min = DataSize.parse(bounds.min());
			this.max = DataSize.parse(bounds.max());
		}

		@Override
		public boolean isValid(@Nullable DataSize size, ConstraintValidatorContext context) {
			if (size == null || (size.compareTo(this.min) >= 0 && size.compareTo(this.max) <= 0)) {
				return true;
			}
			context.disableDefaultConstraintViolation();
			context
				.buildConstraintViolationWithTemplate(
						(size.compareTo(this.min) < 0) ? "must be at least {min}" : "must be at most {max}")
				.addConstraintViolation();
			return false;
		}

	}

}
