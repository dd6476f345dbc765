#include "operator/controller/name_holder.h"

#include <gtest/gtest.h>

namespace verl::controller {
namespace {

api::VerlJob job() {
  api::VerlJob job{};
  job.meta.name_space = "rl";
  job.meta.name = "qwen";
  job.meta.uid = "uid-now";
  return job;
}

TEST(NameHolder, TellsOursFromOnesThatLeaveAndFromStrangers) {
  struct Case {
    const char* what;
    const char* pod;
    NameHolder wanted;
  };
  const Case cases[] = {
      {"owned by this job", R"({"metadata":{"ownerReferences":[{"kind":"VerlJob","name":"qwen","uid":"uid-now"}]}})", NameHolder::Ours},
      {"ours counts even while it is deleted",
       R"({"metadata":{"deletionTimestamp":"2026-11-30T17:00:00Z","ownerReferences":[{"kind":"VerlJob","name":"qwen","uid":"uid-now"}]}})", NameHolder::Ours},
      {"of a job of this name that is no more", R"({"metadata":{"ownerReferences":[{"kind":"VerlJob","name":"qwen","uid":"uid-before"}]}})", NameHolder::Leaving},
      {"a stranger that is being deleted", R"({"metadata":{"deletionTimestamp":"2026-11-30T17:00:00Z"}})", NameHolder::Leaving},
      {"a stranger", R"({"metadata":{"name":"qwen-1-0","uid":"x"}})", NameHolder::Stranger},
      {"of another job", R"({"metadata":{"ownerReferences":[{"kind":"VerlJob","name":"other","uid":"uid-other"}]}})", NameHolder::Stranger},
      {"of another kind of the same name", R"({"metadata":{"ownerReferences":[{"kind":"ReplicaSet","name":"qwen","uid":"r"}]}})", NameHolder::Stranger},
      {"a label claims nothing", R"({"metadata":{"labels":{"verl.run/job-name":"qwen"}}})", NameHolder::Stranger},
      {"deletionTimestamp null", R"({"metadata":{"deletionTimestamp":null}})", NameHolder::Stranger},
      {"owners of a wrong shape", R"({"metadata":{"ownerReferences":{"uid":"uid-now"}}})", NameHolder::Stranger},
      {"an owner of a wrong shape", R"({"metadata":{"ownerReferences":["uid-now",{"uid":7}]}})", NameHolder::Stranger},
      {"no metadata", R"({"kind":"Pod"})", NameHolder::Unknown},
      {"no object", "[]", NameHolder::Unknown},
      {"no JSON", "<html>", NameHolder::Unknown},
  };
  for (const Case& one : cases) EXPECT_EQ(judge_holder(one.pod, job()), one.wanted) << one.what;
}

TEST(NameHolder, ATakenNameNamesThePodAndWhatToDo) {
  const core::DryRun run = name_taken(3, "rl", "main", "qwen-1-0", Timestamp{Seconds{100}});
  EXPECT_EQ(run.refusal_reason, "PodNameTaken");
  EXPECT_EQ(run.job_generation, 3);
  EXPECT_EQ(run.asked, Timestamp{Seconds{100}});
  EXPECT_FALSE(run.allowed);
  EXPECT_EQ(run.refusal_message,
            "pod rl/qwen-1-0 exists and does not belong to this job, which needs its name: kubectl delete pod -n rl qwen-1-0, or give the job another name");
}

}  // namespace
}  // namespace verl::controller
