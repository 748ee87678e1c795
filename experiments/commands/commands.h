#pragma once

#include "experiments/commands/command_line.h"

namespace corun {

/// The commands of simcli. Each function adds one, which is described, parsed and carried out in the file of its name.

// experiment/
void add_run(Commands& commands);
void add_sweep(Commands& commands);
void add_check(Commands& commands);
void add_plan(Commands& commands);
void add_advise(Commands& commands);
void add_fit(Commands& commands);
void add_load(Commands& commands);

// hardware/
void add_execute(Commands& commands);
void add_live(Commands& commands);
void add_control(Commands& commands);
void add_validate(Commands& commands);
void add_calibrate(Commands& commands);
void add_identify(Commands& commands);

// results/
void add_compare(Commands& commands);
void add_export(Commands& commands);
void add_hash(Commands& commands);
void add_merge(Commands& commands);
void add_metrics(Commands& commands);
void add_report(Commands& commands);
void add_sql(Commands& commands);
void add_view(Commands& commands);

// policy/: those of the group `policy`
void add_policy_list(Commands& commands);
void add_policy_cap(Commands& commands);
void add_policy_guarantee(Commands& commands);
void add_policy_why(Commands& commands);

void add_import(Commands& commands);
void add_info(Commands& commands);  // inspect.cpp
void add_version(Commands& commands);

}  // namespace corun
