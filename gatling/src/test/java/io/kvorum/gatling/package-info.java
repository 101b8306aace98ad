/**
 * Load in an open model: users arrive at a given rate, however slow the answers are, send
 * a request or a short chain of them and are gone. Every answer is checked, status and
 * bytes.
 */
package io.kvorum.gatling;
