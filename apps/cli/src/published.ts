import { doctorCommand } from './commands/doctor.ts'
import { ON_A_PROJECT } from './commands/on-a-project.ts'
import { services } from './doctor/services.ts'
import { endWithReader } from './end-with-reader.ts'
import { run } from './run.ts'

// The command line as npm has it: what works without the repository.
endWithReader()
process.exitCode = await run(process.argv.slice(2), [...ON_A_PROJECT, doctorCommand(async () => [services])])
