/** Checks both generations of the official client with the features beside turns, over standard streams. */
import { beforeAll } from "@effect/vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { server } from "./Driver.ts"
import { featureChecks } from "./FeatureChecks.ts"

beforeAll(buildIfMissing)

featureChecks(server)
