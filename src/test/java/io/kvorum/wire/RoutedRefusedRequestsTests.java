package io.kvorum.wire;

/** The same where a route answers what is not refused. */
class RoutedRefusedRequestsTests extends RefusedRequestsTests {

	@Override
	GuardedServer.Answers answers() {
		return GuardedServer.Answers.BY_ROUTE;
	}

}
