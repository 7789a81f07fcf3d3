/** Checks both generations of the official client over HTTP: what they do over standard streams. */
import { beforeAll } from "@effect/vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { featureChecks } from "./FeatureChecks.ts"
import { listening, listeningForMcp } from "./Listening.ts"
import { officialClientChecks } from "./OfficialClients.ts"

beforeAll(buildIfMissing)

officialClientChecks(listening)
featureChecks(listeningForMcp)
