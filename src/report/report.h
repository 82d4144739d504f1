#pragma once
// A run of optimize for people and for programs.

#include <string>
#include <string_view>

#include "optimize/report.h"

namespace mirage::report {

/// At most 80 columns, with the funnel, the candidates, the winner and every loss.
std::string to_text(const optimize::Report& report);

/// One document: docs/schemas/optimize.schema.json. Units stand in key names.
std::string to_json(const optimize::Report& report);

/// Words of a text in lines of 80 columns, indented; all but the first by `hanging` more.
std::string wrapped(std::string_view text, size_t indent, size_t hanging = 0);

/// "12.3 us", "4.56 ms", "1.2 s": three digits and a unit.
std::string time_text(double microseconds);

}  // namespace mirage::report
