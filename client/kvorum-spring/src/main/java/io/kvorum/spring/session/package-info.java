/**
 * Sessions of reactive web applications:
 * {@link io.kvorum.spring.session.KvorumReactiveSessionRepository} is a repository of
 * Spring Session, which has to be on the class path
 * ({@code org.springframework.session:spring-session-core}).
 */
@NullMarked
package io.kvorum.spring.session;

import org.jspecify.annotations.NullMarked;
