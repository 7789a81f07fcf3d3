import { replaySuite } from "./support/ReplaySuite.ts"

replaySuite("the app-server", ["0.29.0-app", "0.45.0"])
