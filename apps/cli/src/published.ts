import { doctorCommand } from './commands/doctor.ts'
import { ON_A_PROJECT } from './commands/on-a-project.ts'
import { services } from './doctor/services.ts'
import { run } from './run.ts'

// The command line as npm has it: what works without the repository.
process.exitCode = await run(process.argv.slice(2), [...ON_A_PROJECT, doctorCommand([services])])
