/** Checks both generations of the official client over standard streams. */
import { beforeAll } from "@effect/vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { server } from "./Driver.ts"
import { officialClientChecks } from "./OfficialClients.ts"

beforeAll(buildIfMissing)

officialClientChecks(server)
