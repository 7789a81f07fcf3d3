import { holdsReplays } from "./support/HoldsReplays.ts"

holdsReplays("the app-server", ["0.29.0-app", "0.45.0"])
