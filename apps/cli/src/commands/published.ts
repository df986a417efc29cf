import { services } from '../doctor/services.ts'
import type { AddCommands } from '../program.ts'
import { doctorCommand } from './doctor.ts'
import { ON_A_PROJECT } from './on-a-project.ts'

/** The commands of the package on npm, which work without the repository. */
export const PUBLISHED: readonly AddCommands[] = [...ON_A_PROJECT, doctorCommand(async () => [services])]
