/** The service is run as in production: two instances, three nodes. */
@NullMarked
package io.kvorum.samples.service;

import org.jspecify.annotations.NullMarked;
